#include "lib/periodic/answers/recurrence.hpp"

#include "lib/number/montgomery.hpp"

#include <bit>

namespace libperm {
namespace {

using Words = std::vector<std::uint64_t>;

Words to(const Montgomery &field, const Words &x) {
    Words out;
    out.reserve(x.size());
    for (const std::uint64_t w : x) out.push_back(field.to(w));
    return out;
}

// x(t) y(t) modulo t^order + c[1] t^(order-1) + ... + c[order].
Words product(const Montgomery &field, const Words &x, const Words &y, const Words &c, PolledSteps &steps) {
    const std::size_t order = c.size() - 1;
    Words wide(2 * order, 0);
    for (std::size_t i = 0; i < order; ++i) {
        steps.take(static_cast<std::int64_t>(order) * 2);
        for (std::size_t j = 0; j < order; ++j)
            wide[i + j] = field.add(wide[i + j], field.multiply(x[i], y[j]));
    }
    for (std::size_t k = 2 * order; k-- > order;) {
        steps.take(static_cast<std::int64_t>(order) * 2);
        const std::uint64_t high = wide[k];
        if (high == 0) continue;
        for (std::size_t j = 1; j <= order; ++j)
            wide[k - j] = field.subtract(wide[k - j], field.multiply(high, c[j]));
    }
    wide.resize(order);
    return wide;
}

} // namespace

Recurrence shortest_recurrence(const Words &terms, std::uint64_t p) {
    const Montgomery field(p);
    PolledSteps steps;
    const Words a = to(field, terms);
    Words c{field.to(1)}, before = c; // before the order last grew
    std::uint64_t discrepancy_before = field.to(1);
    std::size_t order = 0, since = 1;
    for (std::size_t n = 0; n < a.size(); ++n, ++since) {
        steps.take(static_cast<std::int64_t>(2 * c.size()));
        std::uint64_t discrepancy = 0;
        for (std::size_t j = 0; j < c.size() && j <= n; ++j)
            discrepancy = field.add(discrepancy, field.multiply(c[j], a[n - j]));
        if (discrepancy == 0) continue;
        const std::uint64_t factor = field.multiply(discrepancy, field.power(discrepancy_before, p - 2));
        const Words kept = c;
        if (c.size() < before.size() + since) c.resize(before.size() + since, 0);
        for (std::size_t j = 0; j < before.size(); ++j)
            c[j + since] = field.subtract(c[j + since], field.multiply(factor, before[j]));
        if (2 * order > n) continue;
        order = n + 1 - order;
        before = kept;
        discrepancy_before = discrepancy;
        since = 0;
    }
    Recurrence out;
    out.order = order;
    out.c.clear();
    for (const std::uint64_t x : c) out.c.push_back(field.from(x));
    while (out.c.size() > 1 && out.c.back() == 0) out.c.pop_back();
    return out;
}

std::uint64_t term_of(const Recurrence &recurrence, const Words &terms, std::uint64_t n, std::uint64_t p) {
    if (n < terms.size()) return terms[n];
    const Montgomery field(p);
    PolledSteps steps;
    // Terms behind the first order - degree obey c alone.
    const std::size_t degree = recurrence.c.size() - 1, skipped = recurrence.order - degree;
    if (degree == 0) return 0;
    const Words c = to(field, recurrence.c);
    const std::uint64_t power = n - skipped;
    Words x(degree, 0);
    x[0] = field.to(1);
    for (int b = static_cast<int>(std::bit_width(power)); b-- > 0;) {
        x = product(field, x, x, c, steps);
        if ((power >> b & 1) == 0) continue;
        const std::uint64_t high = x.back();
        for (std::size_t j = degree; j-- > 0;)
            x[j] = field.subtract(j == 0 ? 0 : x[j - 1], field.multiply(high, c[degree - j]));
    }
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < degree; ++j)
        sum = field.add(sum, field.multiply(x[j], field.to(terms[skipped + j])));
    return field.from(sum);
}

} // namespace libperm
