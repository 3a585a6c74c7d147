#include "preprocess/permanent_estimate.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace libperm {
namespace {

// Sinkhorn and Knopp's scaling: value * row_factor * column_factor is about doubly stochastic.
struct Scaling {
    std::vector<double> of_row, of_column;
};

template <class F> void for_entries(const Columns &a, F f) {
    for (std::size_t j = 0; j + 1 < a.column_ptr.size(); ++j)
        for (auto e = static_cast<std::size_t>(a.column_ptr[j]);
             e < static_cast<std::size_t>(a.column_ptr[j + 1]); ++e)
            f(static_cast<std::size_t>(a.row[e]), j, a.value[e]);
}

void invert(std::vector<double> &sums) {
    for (double &x : sums) x = 1 / x;
}

Scaling doubly_stochastic(const Columns &a) {
    constexpr int turns = 40;
    const std::size_t n = a.column_ptr.size() - 1;
    Scaling s{std::vector<double>(n, 1), {}};
    for (int turn = 0; turn < turns; ++turn) {
        s.of_column.assign(n, 0);
        for_entries(a, [&](std::size_t i, std::size_t j, double x) { s.of_column[j] += x * s.of_row[i]; });
        invert(s.of_column);
        s.of_row.assign(n, 0);
        for_entries(a, [&](std::size_t i, std::size_t j, double x) { s.of_row[i] += x * s.of_column[j]; });
        invert(s.of_row);
    }
    return s;
}

} // namespace

double log2_permanent_estimate(const Columns &a) {
    const Scaling s = doubly_stochastic(a);
    double log2 =
        0.5 * std::log2(2 * std::numbers::pi / std::numbers::e * static_cast<double>(s.of_row.size()));
    for_entries(a, [&](std::size_t i, std::size_t j, double x) {
        const double rest = 1 - x * s.of_row[i] * s.of_column[j];
        if (rest > 0) log2 += rest * std::log2(rest);
    });
    for (const std::vector<double> &factors : {s.of_row, s.of_column})
        for (const double f : factors) log2 -= std::log2(f);
    return std::isnan(log2) ? -std::numeric_limits<double>::infinity() : log2;
}

} // namespace libperm
