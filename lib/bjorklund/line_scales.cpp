#include "lib/bjorklund/line_scales.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

// Errors are bounded by norms that count all powers of r alike (jit/lanes/hafnian_sum.cpp). Of graphs with
// larger sums the high powers outweigh the one that is wanted, of such with smaller sums the low ones do: of
// ones and of random numbers bounds were the least between 1.4 and 2.
constexpr double row_sum = 1.5;
// Powers of two leave a line within a factor sqrt(2) of what it is to come to. That is another for each, the
// geometric mean being row_sum: these are 2^(-1/2 - k / 8) for k = -3, 1, -1, 3.
constexpr double spread[] = {0x1.d5818dcfba487p-1, 0x1.4bfdad5362a27p-1, 0x1.8ace5422aa0dbp-1,
                             0x1.172b83c7d517bp-1};
constexpr int most_sweeps = 16;

struct EdgeSize {
    std::size_t other; // its own line: a loop
    Scaled size;
};

// Of the sum at a line, but for the line's own scale, in units of what it is to come to.
std::int64_t exponent_at(std::size_t line, const std::vector<EdgeSize> &edges,
                         const std::vector<std::int64_t> &scale) {
    const auto exp2 = [&](const EdgeSize &e) { return e.size.exp2 + (e.other == line ? 0 : scale[e.other]); };
    std::int64_t top = std::numeric_limits<std::int64_t>::min();
    for (const EdgeSize &e : edges) top = std::max(top, exp2(e));
    double sum = 0;
    for (const EdgeSize &e : edges)
        sum += std::ldexp(e.size.mantissa, static_cast<int>(std::max<std::int64_t>(exp2(e) - top, -100)));
    int exponent = 0;
    std::frexp(sum * (spread[line % std::size(spread)] / row_sum), &exponent);
    return top + exponent;
}

} // namespace

std::vector<std::int64_t> line_scales(const Pattern &graph, const std::vector<Scaled> &sizes,
                                      std::int32_t lines) {
    std::vector<std::vector<EdgeSize>> edges(at(lines));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.rows; ++i)
        for (const std::int32_t j : graph.row(i)) {
            const Scaled &x = sizes[k++];
            if (x.mantissa == 0) continue;
            edges[at(i)].push_back({at(j), x});
            if (i != j) edges[at(j)].push_back({at(i), x});
        }
    for (std::size_t i = at(graph.rows); i < edges.size(); ++i) edges[i].push_back({i, {0.5, 1}});

    const std::vector<std::int64_t> unscaled(edges.size(), 0);
    std::vector<std::int64_t> scale = unscaled;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (!edges[i].empty()) scale[i] = -exponent_at(i, edges[i], unscaled) / 2;
    // Line by line, as Sinkhorn does.
    bool changed = true;
    for (int sweep = 0; sweep < most_sweeps && changed; ++sweep) {
        changed = false;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (edges[i].empty()) continue;
            const std::int64_t to = -exponent_at(i, edges[i], scale);
            changed = changed || to != scale[i];
            scale[i] = to;
        }
    }
    return scale;
}

} // namespace libperm
