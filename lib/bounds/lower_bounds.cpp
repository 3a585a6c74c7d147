#include "lib/bounds/lower_bounds.hpp"

#include "lib/bounds/log_sum.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>

namespace libperm {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// prod (a / b)^b. False where it is 0.
bool add_capacity(const Magnitudes &m, const DoublyStochastic &b, LogSum &sum) {
    for (std::size_t k = 0; k < m.lower.size(); ++k) {
        if (b[k] == 0) continue;
        if (m.lower[k] == 0) return false;
        sum.add_log2(m.lower[k] / b[k], b[k], 0x1p-53);
    }
    return true;
}

// sum_j log2 g(min(j, d_j)).
void add_degrees(std::vector<double> degrees, LogSum &sum) {
    std::sort(degrees.begin(), degrees.end(), std::greater<>());
    double place = 0;
    for (const double degree : degrees) {
        const double k = std::min(++place, degree);
        if (k < 2) continue;
        const double term = (k - 1) * std::log1p(-1 / k) * std::numbers::log2e;
        sum.add(term, 0x1p-49 * std::fabs(term));
    }
}

} // namespace

double bethe_below(const Magnitudes &m, const DoublyStochastic &b) {
    LogSum sum;
    if (!add_capacity(m, b, sum)) return minus_infinity;
    for (std::size_t k = 0; k < m.lower.size(); ++k)
        if (b[k] > 0 && b[k] < 1) sum.add_log2(1 - b[k], 1 - b[k]); // which is a double
    return sum.below();
}

double gurvits_below(const Magnitudes &m, const DoublyStochastic &b) {
    LogSum capacity;
    if (!add_capacity(m, b, capacity)) return minus_infinity;
    std::vector<double> rows(static_cast<std::size_t>(m.n()), 0.0), columns(rows);
    std::size_t k = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const std::int32_t j : m.pattern.row(static_cast<std::int32_t>(i)))
            if (m.lower[k++] > 0) {
                ++rows[i];
                ++columns[static_cast<std::size_t>(j)];
            }
    LogSum by_rows = capacity, by_columns = capacity;
    add_degrees(std::move(rows), by_rows);
    add_degrees(std::move(columns), by_columns);
    return std::max(by_rows.below(), by_columns.below());
}

} // namespace libperm
