// u and v of A = B + u v^T, by the rule that says which entries they follow from.
#pragma once

#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

namespace libperm {

// `quotient(x, y)` is x / y; what no entry says stays as it is.
template <class Number, class Entry, class Quotient>
void background_lines(const Background &of, const Entry &entry, const Quotient &quotient, const Number &one,
                      std::vector<Number> &u, std::vector<Number> &v) {
    const auto n = static_cast<std::int32_t>(of.col_of_row.size());
    std::vector<char> has_u(at(n)), has_v(at(n));
    u[at(of.base)] = one;
    has_u[at(of.base)] = 1;
    const auto columns = [&] {
        for (std::int32_t j = 0; j < n; ++j) {
            const std::int32_t i = of.row_of_col[at(j)];
            if (i < 0 || has_v[at(j)] || !has_u[at(i)]) continue;
            v[at(j)] = quotient(entry(i, j), u[at(i)]);
            has_v[at(j)] = 1;
        }
    };
    const auto rows = [&] {
        for (std::int32_t i = 0; i < n; ++i) {
            const std::int32_t j = of.col_of_row[at(i)];
            if (j < 0 || has_u[at(i)] || !has_v[at(j)]) continue;
            u[at(i)] = quotient(entry(i, j), v[at(j)]);
            has_u[at(i)] = 1;
        }
    };
    columns(); // of the base row
    rows();
    columns(); // of others
    rows();
}

} // namespace libperm
