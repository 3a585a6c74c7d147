#include "lib/bjorklund/line_scales.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

// Powers of two leave a line within a factor sqrt(2) of what it is to come to. That is another for each, so
// that their geometric mean is what was asked for: these are 2^(-1/2 - k / 8) for k = -3, 1, -1, 3.
constexpr double spread[] = {0x1.d5818dcfba487p-1, 0x1.4bfdad5362a27p-1, 0x1.8ace5422aa0dbp-1,
                             0x1.172b83c7d517bp-1};
constexpr int most_sweeps = 16;

} // namespace

LineScales::LineScales(const Pattern &graph, const std::vector<Scaled> &sizes, std::int32_t lines)
    : edges_(at(lines)), scale_(at(lines), 0) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.rows; ++i)
        for (const std::int32_t j : graph.row(i)) {
            const Scaled &x = sizes[k++];
            if (x.mantissa == 0) continue;
            edges_[at(i)].push_back({at(j), x});
            if (i != j) edges_[at(j)].push_back({at(i), x});
        }
    for (std::size_t i = at(graph.rows); i < edges_.size(); ++i) edges_[i].push_back({i, {0.5, 1}});

    std::vector<std::int64_t> first = scale_;
    for (std::size_t i = 0; i < edges_.size(); ++i)
        if (!edges_[i].empty()) first[i] = -exponent_at(i, 1) / 2;
    scale_ = std::move(first);
}

// Line by line, as Sinkhorn does.
const std::vector<std::int64_t> &LineScales::with_sums(double sum) {
    bool changed = true;
    for (int sweep = 0; sweep < most_sweeps && changed; ++sweep) {
        changed = false;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            if (edges_[i].empty()) continue;
            const std::int64_t to = -exponent_at(i, sum);
            changed = changed || to != scale_[i];
            scale_[i] = to;
        }
    }
    return scale_;
}

// Of the sum at a line, but for the line's own scale, in units of what it is to come to.
std::int64_t LineScales::exponent_at(std::size_t line, double sum) const {
    const auto exp2 = [&](const Edge &e) { return e.size.exp2 + (e.other == line ? 0 : scale_[e.other]); };
    std::int64_t top = std::numeric_limits<std::int64_t>::min();
    for (const Edge &e : edges_[line]) top = std::max(top, exp2(e));
    double sizes = 0;
    for (const Edge &e : edges_[line])
        sizes += std::ldexp(e.size.mantissa, static_cast<int>(std::max<std::int64_t>(exp2(e) - top, -100)));
    int exponent = 0;
    std::frexp(sizes * (spread[line % std::size(spread)] / sum), &exponent);
    return top + exponent;
}

} // namespace libperm
