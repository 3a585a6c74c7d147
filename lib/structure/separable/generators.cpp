#include "lib/structure/separable/generators.hpp"

#include <numeric>
#include <set>
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

// So many kinds above the diagonal, ten times, and below it: the cheapest walks first, with about n^max(a, b)
// states if one is 0, else n^(a + b).
constexpr std::array limits_by_price{1, 10, 11, 2, 20, 3, 30, 12, 21, 22, 13, 31, 23, 32, 33};

// A walk that has come so far. Lines that come are above (below) the diagonal to all columns (rows) ahead.
struct PathSoFar {
    explicit PathSoFar(std::uint64_t prime) : above(prime), below(prime) {}

    Echelon above, below; // rows by the columns ahead, and columns by the rows ahead
    std::size_t rows = 0, cols = 0;
    LineOrder walk;
};

// Looks for a walk with so many kinds. A line that needs no kind of its own comes at once: what is ahead of
// the others becomes less, and nothing else changes. Where there is no such line, either a row or a column
// opens a kind.
class PathSearch {
  public:
    PathSearch(const DenseResidues &matrix, const LineOrder &order, int limits)
        : matrix_(matrix),
          order_(order),
          most_above_(static_cast<std::size_t>(limits / 10)),
          most_below_(static_cast<std::size_t>(limits % 10)),
          n_(order.rows.size()),
          line_(n_),
          steps_() {}

    std::optional<LineOrder> walk() {
        PathSoFar path(matrix_.prime);
        if (!find_from(path)) return {};
        return std::move(found_);
    }

  private:
    bool find_from(PathSoFar &path) {
        while (take_free(path)) {
        }
        if (path.rows == n_ && path.cols == n_) {
            found_ = std::move(path.walk);
            return true;
        }
        // Ranks of what is ahead are the same whichever way it has come here.
        if (!been_.emplace(path.rows, path.cols).second) return false;
        const bool is_row_first = path.rows <= path.cols;
        PathSoFar other = path;
        return (open(path, is_row_first) && find_from(path)) ||
               (open(other, !is_row_first) && find_from(other));
    }

    // Lines that need no kind: of rows and columns first those that fewer have come of. False: none.
    bool take_free(PathSoFar &path) {
        if (path.rows == n_ && path.cols == n_) return false;
        for (const bool is_row : {path.rows <= path.cols, path.rows > path.cols}) {
            if ((is_row ? path.rows : path.cols) == n_ || rest(path, is_row, 0) != Echelon::nowhere) continue;
            come(path, is_row, !is_row);
            return true;
        }
        if (path.rows == n_ || path.cols == n_) return false;
        if (rest(path, true, 1) != Echelon::nowhere || rest(path, false, 1) != Echelon::nowhere) return false;
        come(path, true, true);
        return true;
    }

    // The next row (column) opens a kind. False: it may not.
    bool open(PathSoFar &path, bool is_row) {
        Echelon &lines = is_row ? path.above : path.below;
        lines.leave_out_before(is_row ? path.cols : path.rows);
        const std::size_t last = rest(path, is_row, 0);
        if (!lines.add(line_, last, is_row ? most_above_ : most_below_)) return false;
        come(path, is_row, !is_row);
        return true;
    }

    // Reduces the next row (column), but for so many entries that are next: the last place that is left.
    std::size_t rest(const PathSoFar &path, bool is_row, std::size_t skipped) {
        const std::size_t from = (is_row ? path.cols : path.rows) + skipped;
        steps_.take(static_cast<std::int64_t>(8 * n_));
        for (std::size_t k = from; k < n_; ++k) line_[k] = is_row ? entry(path.rows, k) : entry(k, path.cols);
        return (is_row ? path.above : path.below).reduce(line_, from, [](std::size_t, std::uint64_t) {});
    }

    void come(PathSoFar &path, bool row, bool col) const {
        path.walk.rows.push_back(row ? order_.rows[path.rows++] : no_line);
        path.walk.cols.push_back(col ? order_.cols[path.cols++] : no_line);
    }

    std::uint64_t entry(std::size_t i, std::size_t j) const {
        return matrix_.values[order_.rows[i] * matrix_.n + order_.cols[j]];
    }

    const DenseResidues &matrix_;
    const LineOrder &order_;
    std::size_t most_above_, most_below_; // kinds
    std::size_t n_;
    std::vector<std::uint64_t> line_;
    PolledSteps steps_;
    std::set<std::pair<std::size_t, std::size_t>> been_; // rows and columns, where a kind is to be opened
    LineOrder found_;
};

// Few of the lines: no walk through them, no walk through all.
LineOrder spread_lines(const LineOrder &order) {
    constexpr std::size_t lines = 12;
    const std::size_t n = order.rows.size();
    if (n <= lines) return order;
    LineOrder spread;
    for (std::size_t k = 0; k < lines; ++k) {
        spread.rows.push_back(order.rows[k * n / lines]);
        spread.cols.push_back(order.cols[k * n / lines]);
    }
    return spread;
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

std::optional<LineOrder> path_through(const DenseResidues &matrix, const LineOrder &order) {
    const LineOrder spread = spread_lines(order);
    if (!PathSearch(matrix, spread, limits_by_price.back()).walk()) return {};
    for (const int limits : limits_by_price) {
        if (!PathSearch(matrix, spread, limits).walk()) continue;
        if (auto walk = PathSearch(matrix, order, limits).walk()) return walk;
    }
    return {};
}

} // namespace libperm
