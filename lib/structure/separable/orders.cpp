#include "lib/structure/separable/orders.hpp"

#include "lib/structure/separable/walk.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// Which values are larger, and the lines' sums.
class SortableValues {
  public:
    explicit SortableValues(const DenseResidues &matrix)
        : matrix_(matrix), row_sums_(matrix.n, 0), col_sums_(matrix.n, 0) {
        for (std::size_t i = 0; i < matrix.n; ++i)
            for (std::size_t j = 0; j < matrix.n; ++j) {
                row_sums_[i] += value(i, j);
                col_sums_[j] += value(i, j);
            }
    }

    double value(std::size_t i, std::size_t j) const {
        const std::uint64_t x = matrix_.values[i * matrix_.n + j];
        return x > matrix_.prime / 2 ? -static_cast<double>(matrix_.prime - x) : static_cast<double>(x);
    }

    // The rows of the greatest and of the least sum: of points on a line, the first and the last.
    std::pair<std::size_t, std::size_t> outer_rows() const {
        const auto [least, greatest] = std::minmax_element(row_sums_.begin(), row_sums_.end());
        return {static_cast<std::size_t>(greatest - row_sums_.begin()),
                static_cast<std::size_t>(least - row_sums_.begin())};
    }

    // Columns by what they have in a row, and rows by what they have in a column, ascending.
    std::vector<std::size_t> cols_by_row(std::size_t i) const {
        return sorted(col_sums_, [this, i](std::size_t j) { return value(i, j); });
    }
    std::vector<std::size_t> rows_by_col(std::size_t j) const {
        return sorted(row_sums_, [this, j](std::size_t i) { return value(i, j); });
    }

  private:
    template <class Value>
    std::vector<std::size_t> sorted(const std::vector<double> &sums, const Value &value) const {
        std::vector<std::tuple<double, double, std::size_t>> lines;
        for (std::size_t k = 0; k < matrix_.n; ++k) lines.emplace_back(value(k), sums[k], k);
        std::sort(lines.begin(), lines.end());
        std::vector<std::size_t> order;
        for (const auto &line : lines) order.push_back(std::get<2>(line));
        return order;
    }

    const DenseResidues &matrix_;
    std::vector<double> row_sums_, col_sums_;
};

// Keeps the cheapest of the orders that it is shown.
class CheapestShape {
  public:
    CheapestShape(const DenseResidues &matrix) : matrix_(matrix) {}

    // The order, and that with its columns reversed; in pairs, by turns, and in pairs with a band.
    void try_all(LineOrder order) {
        for (int k = 0; k < 2; ++k) {
            try_one(order);
            if (const auto walk = path_through(matrix_, order)) try_one(*walk);
            try_bands(order);
            std::reverse(order.cols.begin(), order.cols.end());
        }
    }

    bool has_any() const { return shape_.has_value(); }
    bool has_kinds(std::size_t most) const { // without a band
        return shape_ && shape_->band.is_none() && std::max(shape_->above, shape_->below) <= most;
    }
    std::optional<SeparableShape> shape() { return std::move(shape_); }

  private:
    void try_one(const LineOrder &order) {
        const auto found = generators_of(matrix_, order);
        if (found) take({order, found->above.kinds, found->below.kinds, {}});
    }

    void try_bands(const LineOrder &order) {
        const std::vector<LineKinds> above = kinds_by_width(order, Side::above);
        if (above.empty()) return;
        const std::vector<LineKinds> below = kinds_by_width(order, Side::below);
        for (const LineKinds &a : above)
            for (const LineKinds &b : below)
                if (const Band band{a.width, b.width}; !band.is_none()) take({order, a.kinds, b.kinds, band});
    }

    // Those widths that need fewer kinds than all that are less.
    std::vector<LineKinds> kinds_by_width(const LineOrder &order, Side side) const {
        std::vector<LineKinds> found;
        for (std::size_t width = 0; width <= most_band; ++width) {
            if (!found.empty() && found.back().kinds == 0) break;
            const std::size_t most = found.empty() ? most_kinds : found.back().kinds - 1;
            if (const auto triangle = triangle_of(matrix_, order, side, {most, width}))
                found.push_back({triangle->kinds, width});
        }
        return found;
    }

    void take(const SeparableShape &shape) {
        const double price = separable_products(steps_of(shape.order), shape.above, shape.below, shape.band);
        constexpr double better = 0.9; // pairs come first, and have fewer steps
        if (shape_ && price >= better * price_) return;
        price_ = price;
        shape_ = shape;
    }

    const DenseResidues &matrix_;
    double price_ = 0;
    std::optional<SeparableShape> shape_;
};

} // namespace

std::optional<SeparableShape> separable_shape(const DenseResidues &matrix) {
    CheapestShape cheapest(matrix);
    cheapest.try_all(order_as_given(matrix.n));
    if (matrix.n == 0) return cheapest.shape();
    const SortableValues values(matrix);
    const auto [greatest, least] = values.outer_rows();
    for (const std::size_t row : {greatest, least}) {
        const std::vector<std::size_t> cols = values.cols_by_row(row);
        for (const std::size_t col : {cols.front(), cols.back()})
            cheapest.try_all({values.rows_by_col(col), cols});
    }
    // Sorting does not tell the order of fractions' residues, or of lines times factors of their own.
    constexpr std::uint64_t beginnings = 8;
    for (std::size_t rank = 1; !cheapest.has_any() && rank <= most_kinds; ++rank)
        for (std::uint64_t seed = 1; !cheapest.has_kinds(rank) && seed <= beginnings; ++seed) {
            const auto order = order_by_ranks(matrix, rank, seed);
            if (!order) break;
            cheapest.try_all(*order);
        }
    return cheapest.shape();
}

} // namespace libperm
