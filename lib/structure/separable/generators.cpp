#include "lib/structure/separable/generators.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

// The entries between what comes at one step and what comes at another.
class EntriesByStep {
  public:
    EntriesByStep(const DenseResidues &matrix, const LineOrder &order) : matrix_(matrix), order_(order) {}

    std::size_t steps() const { return order_.rows.size(); }
    std::uint64_t of(std::size_t i, std::size_t j) const {
        const std::size_t row = order_.rows[i], col = order_.cols[j];
        return row == no_line || col == no_line ? 0 : matrix_.values[row * matrix_.n + col];
    }

  private:
    const DenseResidues &matrix_;
    const LineOrder &order_;
};

// What is `beyond` the band: `beyond(i, j)` of what opens a kind at step i and what comes at the step j
// behind it.
template <class Entry>
std::optional<Triangle> triangle_beyond(std::size_t steps, std::uint64_t prime, std::size_t most,
                                        const Entry &beyond) {
    PolledSteps polled;
    Triangle triangle;
    triangle.opens.resize(steps);
    triangle.closes.resize(steps);
    triangle.ends.resize(steps);
    Echelon lines(prime);
    std::vector<std::uint64_t> line(steps);
    for (std::size_t i = 0; i < steps; ++i) {
        polled.take(static_cast<std::int64_t>(8 * steps));
        for (std::size_t j = i + 1; j < steps; ++j) line[j] = beyond(i, j);
        // A kind that the other line of this very step closes is not used again by it.
        lines.leave_out_before(i);
        const std::size_t last = lines.reduce(
            line, i + 1, [&](std::size_t kind, std::uint64_t factor) { triangle.opens[i][kind] = factor; });
        if (last == Echelon::nowhere) continue;
        const auto kind = lines.add(line, last, most);
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

std::optional<Triangle> triangle_of(const DenseResidues &matrix, const LineOrder &order, Side side,
                                    const LineKinds &most) {
    const std::size_t width = most.width;
    const EntriesByStep entries(matrix, order);
    const auto entry = [&entries, side](std::size_t i, std::size_t j) {
        return side == Side::above ? entries.of(i, j) : entries.of(j, i);
    };
    auto triangle = triangle_beyond(
        entries.steps(), matrix.prime, most.kinds,
        [&entry, width](std::size_t i, std::size_t j) { return i < width ? 0 : entry(i - width, j); });
    if (!triangle || width == 0) return triangle;
    triangle->width = width;
    triangle->near.resize(entries.steps());
    for (std::size_t j = 0; j < entries.steps(); ++j)
        for (std::size_t back = 1; back <= std::min(width, j); ++back)
            triangle->near[j][back - 1] = entry(j - back, j);
    return triangle;
}

std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order) {
    return generators_of(matrix, order, Band());
}

std::optional<Generators> generators_of(const DenseResidues &matrix, const LineOrder &order,
                                        const Band &band) {
    auto above = triangle_of(matrix, order, Side::above, {most_kinds, band.above});
    if (!above) return {};
    auto below = triangle_of(matrix, order, Side::below, {most_kinds, band.below});
    if (!below) return {};
    Generators found{matrix.prime, steps_of(order), {}, std::move(*above), std::move(*below)};
    const EntriesByStep entries(matrix, order);
    for (std::size_t k = 0; k < entries.steps(); ++k) found.diagonal.push_back(entries.of(k, k));
    return found;
}

void Echelon::leave_out_before(std::size_t place) {
    std::erase_if(lines_, [place](const Line &line) { return line.last < place; });
}

std::optional<std::size_t> Echelon::add(const std::vector<std::uint64_t> &line, std::size_t last,
                                        std::size_t kinds) {
    std::size_t kind = 0;
    const auto is_taken = [&] {
        return std::any_of(lines_.begin(), lines_.end(), [kind](const Line &l) { return l.kind == kind; });
    };
    while (is_taken()) ++kind;
    if (kind >= kinds) return {};
    const auto behind =
        std::find_if(lines_.begin(), lines_.end(), [last](const Line &other) { return other.last < last; });
    const std::uint64_t inverse = field_.power(field_.to(line[last]), field_.prime() - 2);
    lines_.insert(behind, {kind, last, inverse, line});
    return kind;
}

} // namespace libperm
