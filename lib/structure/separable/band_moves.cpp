#include "lib/structure/separable/band_moves.hpp"

#include <utility>

namespace libperm {

BandShape band_shape(std::size_t n, const LineKinds &above, const LineKinds &below) {
    const bool is_transposed = std::pair(above.kinds, below.width) > std::pair(below.kinds, above.width);
    return is_transposed ? BandShape{n, below, above, true} : BandShape{n, above, below, false};
}

WaitingRange waiting_range(const BandShape &shape, const BandMove &move, std::size_t rows, std::size_t cols) {
    const auto whole = [](std::size_t x) { return static_cast<std::ptrdiff_t>(x); };
    const auto countable = [&whole](const LineKinds &lines, const LinesSoFar &so_far) {
        return lines.kinds == 0 ? 0 : whole(so_far.left);
    };
    WaitingRange range;
    range.lead = whole(move.rows.come) - whole(move.cols.come) - whole(rows) + whole(cols);
    range.first = std::max<std::ptrdiff_t>(0, range.lead);
    range.last = std::min({whole(shape.n) - whole(move.cols.come) - whole(rows),
                           countable(shape.rows, move.rows), range.lead + countable(shape.cols, move.cols)});
    return range;
}

void each_move(const BandShape &shape, const std::function<void(const BandMove &)> &make) {
    LinesSoFar rows, cols;
    const auto come = [&](bool is_row) {
        ++(is_row ? rows : cols).come;
        make({is_row, true, rows, cols});
    };
    const auto leave_if_behind = [&](bool is_row, std::size_t width) {
        LinesSoFar &lines = is_row ? rows : cols;
        if (lines.known() <= width) return;
        ++lines.left;
        make({is_row, false, rows, cols});
    };
    for (std::size_t k = 0; k < shape.n; ++k) {
        come(false);
        if (shape.rows.width > 0) leave_if_behind(true, shape.rows.width - 1);
        come(true);
        leave_if_behind(true, shape.rows.width);
        leave_if_behind(false, shape.cols.width);
    }
}

} // namespace libperm
