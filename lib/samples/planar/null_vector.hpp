// The vector that a matrix with one column more than rows takes to 0.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace libperm {

// y: transposed, q + 1 rows of q numbers, and spoiled. By y = P^T L U with pivots chosen by rows, so that no
// number of L is above 1: v y = 0 is (P v) L = 0, and U is not needed. `order` and `v`: room. False: there is
// more than one.
template <class Field>
bool null_vector(const Field &field, std::size_t q, std::vector<typename Field::Number> &y,
                 std::vector<std::size_t> &order, std::vector<typename Field::Number> &v) {
    using Number = typename Field::Number;
    order.resize(q + 1);
    for (std::size_t r = 0; r <= q; ++r) order[r] = r;
    const auto row = [&](std::size_t r) { return y.data() + order[r] * q; };
    for (std::size_t t = 0; t < q; ++t) {
        std::size_t best = t;
        for (std::size_t r = t + 1; r <= q; ++r)
            if (Field::is_larger(row(r)[t], row(best)[t])) best = r;
        std::swap(order[t], order[best]);
        const Number *const pivot = row(t);
        if (Field::is_zero(pivot[t])) return false;
        for (std::size_t r = t + 1; r <= q; ++r) {
            Number *const other = row(r);
            if (Field::is_zero(other[t])) continue;
            field.divide(other[t], pivot[t]);
            field.subtract_multiple(other + t + 1, other[t], pivot + t + 1, q - t - 1);
        }
    }
    v.assign(q + 1, field.zero());
    v[order[q]] = field.one();
    for (std::size_t t = q; t-- > 0;)
        for (std::size_t r = t + 1; r <= q; ++r)
            field.subtract_multiple(&v[order[t]], row(r)[t], &v[order[r]], 1);
    return true;
}

} // namespace libperm
