#include "lib/structure/separable/orders.hpp"

#include "lib/number/residues.hpp"
#include "lib/structure/separable/walk.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using Lines = std::vector<std::size_t>;

// By the numbers of their representatives: rows and columns that are multiples of each other.
struct MultipleLines {
    std::vector<Lines> rows, cols;
};

std::vector<Lines> multiples(const DenseResidues &matrix, bool are_rows) {
    const Montgomery field(matrix.prime);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> weights(2 * matrix.n);
    for (std::uint64_t &x : weights) x = field.to(random());
    std::map<std::uint64_t, Lines> classes; // by the ratio of two sums
    for (std::size_t k = 0; k < matrix.n; ++k) {
        std::uint64_t sums[2] = {0, 0};
        for (std::size_t j = 0; j < matrix.n; ++j)
            for (const std::size_t side : {0, 1})
                sums[side] =
                    field.add(sums[side],
                              field.multiply(weights[2 * j + side],
                                             matrix.values[are_rows ? k * matrix.n + j : j * matrix.n + k]));
        const std::uint64_t inverse = field.power(field.to(sums[1]), matrix.prime - 2);
        classes[field.multiply(sums[0], inverse)].push_back(k);
    }
    std::vector<Lines> all;
    for (auto &[ratio, lines] : classes) all.push_back(std::move(lines));
    std::ranges::sort(all);
    return all;
}

struct Part {
    Lines rows, cols;
};

// One of each class; of few of them most matrices show already that there are no ends.
Part representatives(const MultipleLines &classes, std::size_t most) {
    const auto some = [most](const std::vector<Lines> &all) {
        Lines lines;
        const std::size_t count = std::min(all.size(), most);
        for (std::size_t k = 0; k < count; ++k) lines.push_back(all[k * all.size() / count].front());
        return lines;
    };
    return {some(classes.rows), some(classes.cols)};
}

// Rows B and columns P, and what is left of the others, all by their places in a part.
struct Ends {
    Lines rows, cols;
    Lines left_of_rows, left_of_cols; // of each: how many of its entries are not 0 then
    std::size_t zeros = 0;            // of lines that are not among these
    std::size_t told_apart = 0;       // numbers that are left, each counted once

    bool operator<(const Ends &other) const {
        return std::pair(told_apart, zeros) < std::pair(other.told_apart, other.zeros);
    }
};

Lines ascending(const Lines &numbers) {
    Lines lines(numbers.size());
    std::iota(lines.begin(), lines.end(), std::size_t{0});
    std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return numbers[line]; });
    return lines;
}

std::size_t distinct(Lines numbers) {
    std::ranges::sort(numbers);
    return numbers.size() - std::ranges::unique(numbers).size();
}

class EndSearch {
  public:
    EndSearch(const DenseResidues &matrix, Part part, std::size_t rank, std::uint64_t seed)
        : matrix_(matrix),
          part_(std::move(part)),
          field_(matrix.prime),
          rank_(rank),
          random_(seed),
          steps_() {}

    bool is_enough() const { return std::min(part_.rows.size(), part_.cols.size()) > 2 * rank_; }

    // The best of some at random; none: each block of them is singular.
    std::optional<Ends> best_of(int tries) {
        std::optional<Ends> best;
        for (int k = 0; k < tries; ++k) {
            Lines rows = some_of(ascending(Lines(part_.rows.size()))),
                  cols = some_of(ascending(Lines(part_.cols.size())));
            keep_better(best, at_ends(std::move(rows), std::move(cols)));
        }
        return best;
    }

    std::optional<Ends> at_ends(Lines rows, Lines cols) {
        const std::size_t m = part_.rows.size(), n = part_.cols.size();
        steps_.take(static_cast<std::int64_t>(2 * (rank_ + 1) * m * n));
        if (!reduce(rows, cols)) return {};
        Ends ends{std::move(rows), std::move(cols), Lines(m), Lines(n)};
        for (std::size_t k = 0; k < m; ++k)
            for (std::size_t j = 0; j < n; ++j) {
                const bool is_left = rest(ends, k, j) != 0;
                ends.left_of_rows[k] += is_left;
                ends.left_of_cols[j] += is_left;
                ends.zeros += !is_left;
            }
        ends.zeros -= rank_ * (m + n - rank_); // their own
        ends.told_apart = distinct(ends.left_of_rows) + distinct(ends.left_of_cols);
        return ends;
    }

    // How many zeros have zeros alone behind them in their rows, where least is left of the last columns: by
    // chance few, also where there are many.
    std::size_t nested(const Ends &ends) {
        reduce(ends.rows, ends.cols);
        const Lines last_first = ascending(ends.left_of_cols);
        std::size_t count = 0;
        for (std::size_t k = 0; k < part_.rows.size(); ++k)
            for (const std::size_t j : last_first) {
                if (rest(ends, k, j) != 0) break;
                ++count;
            }
        return count - rank_ * (part_.rows.size() + part_.cols.size() - rank_);
    }

    // With some of the lines that are left least of in place of these, as long as that is better.
    Ends improved(Ends ends) {
        constexpr int most_in_vain = 12;
        std::optional<Ends> best = std::move(ends);
        for (int in_vain = 0; in_vain < most_in_vain; ++in_vain)
            for (const bool is_row : {true, false})
                if (keep_better(best, with(*best, is_row, some_of(nearest(*best, is_row))))) in_vain = 0;
        return std::move(*best);
    }

    // The same lines in a larger part.
    static Lines places(const Lines &lines, const Lines &from, const Lines &in) {
        Lines all;
        for (const std::size_t line : lines)
            all.push_back(static_cast<std::size_t>(std::ranges::find(in, from[line]) - in.begin()));
        return all;
    }
    const Part &part() const { return part_; }

  private:
    std::uint64_t entry(std::size_t k, std::size_t j) const {
        return matrix_.values[part_.rows[k] * matrix_.n + part_.cols[j]];
    }

    std::uint64_t rest(const Ends &ends, std::size_t k, std::size_t j) const {
        std::uint64_t left = entry(k, j);
        for (std::size_t t = 0; t < rank_; ++t)
            left = field_.subtract(
                left, field_.multiply(entry(k, ends.cols[t]), reduced_[t * part_.cols.size() + j]));
        return left;
    }

    Lines some_of(Lines lines) {
        for (std::size_t t = 0; t < rank_; ++t)
            std::swap(lines[t], lines[t + random_() % (lines.size() - t)]);
        lines.resize(rank_);
        return lines;
    }

    static bool keep_better(std::optional<Ends> &best, std::optional<Ends> other) {
        if (!other || (best && !(*best < *other))) return false;
        best = std::move(other);
        return true;
    }

    std::optional<Ends> with(const Ends &ends, bool is_row, Lines lines) {
        return is_row ? at_ends(std::move(lines), ends.cols) : at_ends(ends.rows, std::move(lines));
    }

    // These, those that no more is left of than of any other line, and some that follow.
    Lines nearest(const Ends &ends, bool is_row) const {
        constexpr std::size_t least = 6;
        const Lines &left = is_row ? ends.left_of_rows : ends.left_of_cols;
        Lines lines = ascending(left);
        std::size_t count = std::min(rank_ + least, lines.size());
        while (count < lines.size() && left[lines[count]] == left[lines[rank_]]) ++count;
        lines.resize(count);
        return lines;
    }

    // a[B,P]^-1 a[B,.], in Montgomery's form.
    bool reduce(const Lines &rows, const Lines &cols) {
        reduced_.clear();
        for (const std::size_t row : rows)
            for (std::size_t j = 0; j < part_.cols.size(); ++j) reduced_.push_back(field_.to(entry(row, j)));
        return solve_for(field_, reduced_, part_.cols.size(), cols);
    }

    const DenseResidues &matrix_;
    Part part_;
    Montgomery field_;
    std::size_t rank_;
    std::vector<std::uint64_t> reduced_; // by row
    std::mt19937_64 random_;
    PolledSteps steps_;
};

// Those of the classes that come to so many, from the least or from the greatest.
Lines all_lines(const std::vector<Lines> &classes, const Lines &order) {
    Lines lines;
    for (const std::size_t k : order) lines.insert(lines.end(), classes[k].begin(), classes[k].end());
    return lines;
}

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

std::optional<LineOrder> order_by_ranks(const DenseResidues &matrix, std::size_t rank, std::uint64_t seed) {
    constexpr int tries[] = {2, 8, 32}; // of B and P a third, or a tenth, are apart from each other
    constexpr std::size_t few = 24;
    constexpr double least_nested = 0.15;
    const MultipleLines classes{multiples(matrix, true), multiples(matrix, false)};
    EndSearch of_few(matrix, representatives(classes, few), rank, seed);
    if (!of_few.is_enough()) return {};
    std::optional<Ends> found = of_few.best_of(tries[rank - 1]);
    if (!found || found->zeros == 0) return {};
    *found = of_few.improved(std::move(*found));
    const auto entries = static_cast<double>(found->left_of_rows.size() * found->left_of_cols.size());
    if (static_cast<double>(of_few.nested(*found)) < least_nested * entries) return {};
    EndSearch of_all(matrix, representatives(classes, matrix.n), rank, seed);
    const Ends ends = of_all.improved(
        *of_all.at_ends(EndSearch::places(found->rows, of_few.part().rows, of_all.part().rows),
                        EndSearch::places(found->cols, of_few.part().cols, of_all.part().cols)));
    LineOrder order{all_lines(classes.rows, ascending(ends.left_of_rows)),
                    all_lines(classes.cols, ascending(ends.left_of_cols))};
    std::ranges::reverse(order.cols);
    return order;
}

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
