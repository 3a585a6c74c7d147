#include "lib/structure/separable/orders.hpp"

#include "lib/structure/separable/generators.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using KindLimits = std::array<std::size_t, 2>; // above the diagonal, and below it

// The cheapest walks first: with about n^max(a, b) states if one is 0, else n^(a + b).
constexpr std::array<KindLimits, 15> limits_by_price{{{0, 1},
                                                      {1, 0},
                                                      {1, 1},
                                                      {0, 2},
                                                      {2, 0},
                                                      {0, 3},
                                                      {3, 0},
                                                      {1, 2},
                                                      {2, 1},
                                                      {2, 2},
                                                      {1, 3},
                                                      {3, 1},
                                                      {2, 3},
                                                      {3, 2},
                                                      {3, 3}}};

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
    PathSearch(const DenseResidues &matrix, const LineOrder &order, const KindLimits &limits)
        : matrix_(matrix), order_(order), limits_(limits), n_(order.rows.size()), line_(n_), steps_() {}

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
        if (!lines.add(line_, last, limits_[is_row ? 0 : 1])) return false;
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
    KindLimits limits_;
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

std::optional<LineOrder> path_through(const DenseResidues &matrix, const LineOrder &order) {
    const LineOrder spread = spread_lines(order);
    if (!PathSearch(matrix, spread, limits_by_price.back()).walk()) return {};
    for (const KindLimits &limits : limits_by_price) {
        if (!PathSearch(matrix, spread, limits).walk()) continue;
        if (auto walk = PathSearch(matrix, order, limits).walk()) return walk;
    }
    return {};
}

} // namespace libperm
