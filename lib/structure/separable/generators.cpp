#include "lib/structure/separable/generators.hpp"

#include "lib/structure/separable/echelon.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

// `entry(i, j)`: between what comes first at step i and what comes first at the step j behind it.
template <class Entry>
std::optional<Triangle> triangle_of(std::size_t steps, std::uint64_t prime, const Entry &entry,
                                    const Poll &poll) {
    PolledSteps polled(poll);
    Triangle triangle;
    triangle.opens.resize(steps);
    triangle.closes.resize(steps);
    triangle.ends.resize(steps);
    Echelon lines(prime);
    std::vector<std::uint64_t> line(steps);
    for (std::size_t i = 0; i < steps; ++i) {
        polled.take(static_cast<std::int64_t>(8 * steps));
        for (std::size_t j = i + 1; j < steps; ++j) line[j] = entry(i, j);
        // A kind that the other line of this very step closes is not used again by it.
        lines.leave_out_before(i);
        const std::size_t last = lines.reduce(
            line, i + 1, [&](std::size_t kind, std::uint64_t factor) { triangle.opens[i][kind] = factor; });
        if (last == Echelon::nowhere) continue;
        const auto kind = lines.add(line, last, most_kinds);
        if (!kind) return {};
        triangle.kinds = std::max(triangle.kinds, *kind + 1);
        triangle.opens[i][*kind] = 1;
        triangle.ends[last] |= static_cast<std::uint8_t>(1U << *kind);
        for (std::size_t j = i + 1; j <= last; ++j) triangle.closes[j][*kind] = line[j];
    }
    return triangle;
}

} // namespace

LineOrder order_as_given(std::size_t n) {
    LineOrder order;
    order.rows.resize(n);
    std::iota(order.rows.begin(), order.rows.end(), std::size_t{0});
    order.cols = order.rows;
    return order;
}

std::vector<ComingLines> steps_of(const LineOrder &order) {
    std::vector<ComingLines> steps;
    for (std::size_t k = 0; k < order.rows.size(); ++k)
        steps.push_back({order.rows[k] != no_line, order.cols[k] != no_line});
    return steps;
}

std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order,
                                        const Poll &poll) {
    const auto entry = [&](std::size_t i, std::size_t j) {
        const std::size_t row = order.rows[i], col = order.cols[j];
        return row == no_line || col == no_line ? 0 : matrix.values[row * matrix.n + col];
    };
    const std::size_t steps = order.rows.size();
    auto above = triangle_of(steps, matrix.prime, entry, poll);
    if (!above) return {};
    auto below = triangle_of(
        steps, matrix.prime, [&entry](std::size_t j, std::size_t i) { return entry(i, j); }, poll);
    if (!below) return {};
    Generators found{matrix.prime, steps_of(order), {}, std::move(*above), std::move(*below)};
    for (std::size_t k = 0; k < steps; ++k) found.diagonal.push_back(entry(k, k));
    return found;
}

} // namespace libperm
