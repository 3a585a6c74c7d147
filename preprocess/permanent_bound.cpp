#include "preprocess/permanent_bound.hpp"

#include "preprocess/branch_lines.hpp"
#include "preprocess/graph_parts.hpp"
#include "preprocess/index.hpp"
#include "preprocess/log_factorial.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

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

} // namespace libperm
