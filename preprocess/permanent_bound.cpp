#include "preprocess/permanent_bound.hpp"

#include "preprocess/binomials.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/graph_parts.hpp"
#include "preprocess/index.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace libperm {
namespace {

double delta(double k) { return std::exp(log_factorial(k) / k); }

struct Magnitude {
    double mantissa;
    std::int64_t exp2;
};

// Of one row, times 2^-exp2. All terms are nonnegative, so it errs by as many roundings as there are, and by
// those of delta, below 2^-44.
double row_bound(const std::vector<Magnitude> &row, std::int64_t exp2, std::vector<double> &sorted) {
    sorted.clear();
    for (const Magnitude &x : row)
        sorted.push_back(
            std::ldexp(x.mantissa, static_cast<int>(std::max<std::int64_t>(x.exp2 - exp2, -5000))));
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    sorted.push_back(0);
    double sum = 0;
    for (std::size_t k = 1; k < sorted.size(); ++k)
        if (sorted[k - 1] > sorted[k]) sum += (sorted[k - 1] - sorted[k]) * delta(static_cast<double>(k));
    return sum * (1 + 0x1p-40 + static_cast<double>(sorted.size()) * 0x1p-51);
}

// With the columns scaled by 2^scale, which the rows' own powers of two make up for.
PermanentBound bound_by_rows(const Block &block, const std::vector<std::int64_t> &scale) {
    PermanentBound bound{0.5, 1};
    for (const std::int64_t s : scale) bound.exp2 -= s;
    std::vector<Magnitude> row;
    std::vector<double> sorted;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        row.clear();
        std::int64_t k = block.pattern.row_begin(i);
        for (const std::int32_t j : block.pattern.row(i)) {
            const Tracked &x = block.values[at(k++)];
            if (!is_zero(x)) row.push_back({x.magnitude, x.exp2 + scale[at(j)]});
        }
        if (row.empty()) return {};
        const std::int64_t exp2 = std::max_element(row.begin(), row.end(), [](const auto &x, const auto &y) {
                                      return x.exp2 < y.exp2;
                                  })->exp2;
        int exponent = 0;
        bound.mantissa = std::frexp(bound.mantissa * row_bound(row, exp2, sorted), &exponent);
        bound.exp2 += exp2 + exponent;
    }
    return bound;
}

PermanentBound root_of(const PermanentBound &x) {
    if (x.mantissa == 0) return x;
    const bool is_odd = x.exp2 % 2 != 0;
    PermanentBound root{std::sqrt(is_odd ? x.mantissa / 2 : x.mantissa) * (1 + 0x1p-50), 0};
    int exponent = 0;
    root.mantissa = std::frexp(root.mantissa, &exponent);
    root.exp2 = (is_odd ? x.exp2 + 1 : x.exp2) / 2 + exponent;
    return root;
}

PermanentBound bound_with_loops(const Block &graph) {
    const PowerScaling scaling = power_scaling(graph);
    PermanentBound bound{0.5, 1 - scaling.total};
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i) {
        double sum = 0;
        for (const std::int32_t j : graph.pattern.row(i)) {
            const Tracked &x = graph.values[k++];
            const std::int64_t exp2 = x.exp2 + scaling.of(graph.pattern, i, j);
            sum += std::ldexp(x.magnitude, static_cast<int>(std::clamp<std::int64_t>(exp2, -1000, 900)));
        }
        int exponent = 0;
        bound.mantissa = std::frexp(bound.mantissa * std::max(1.0, sum * (1 + 0x1p-20)), &exponent);
        bound.exp2 += exponent;
    }
    return bound;
}

PermanentBound bound_of_graph(const Block &graph) {
    return sides_of(graph.pattern) == BranchSides::one ? root_of(permanent_bound(both_halves(graph)))
                                                       : bound_with_loops(graph);
}

} // namespace

PermanentBound permanent_bound(const Block &block) {
    if (block.pattern.one_sided) return bound_of_graph(block);
    const PowerScaling scaling = power_scaling(block);
    const PermanentBound by_rows = bound_by_rows(block, scaling.col);
    const PermanentBound by_columns = bound_by_rows(transposed(block), scaling.row);
    const auto size = [](const PermanentBound &x) {
        return std::pair(x.mantissa == 0 ? std::numeric_limits<std::int64_t>::min() : x.exp2, x.mantissa);
    };
    return std::min(by_rows, by_columns, [&](const auto &x, const auto &y) { return size(x) < size(y); });
}

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
