// The moves of a walk through a matrix with a band: rows and columns come in pairs, and a line is known by
// itself as long as the band is not behind it. Then it leaves, to be counted with those that are alike.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace libperm {

struct BandShape {
    std::size_t n = 0;
    LineKinds rows, cols;
    bool is_transposed = false; // rows are below the diagonal: the transpose has the same permanent
};
// With fewer kinds of rows than of columns, as the inner loop is one over columns; else with the wider side
// as rows, which leave the band before the next one comes.
BandShape band_shape(std::size_t n, const LineKinds &above, const LineKinds &below);

// Numbers of rows that are counted.
struct WaitingRange {
    std::ptrdiff_t lead = 0; // more rows than columns are counted
    std::ptrdiff_t first = 0, last = -1;

    bool is_empty() const { return last < first; }
    std::ptrdiff_t columns(std::ptrdiff_t w) const { return w - lead; } // that are counted beside w rows
};

// What has come so far of one side, and what has left: the lines between are known by themselves.
struct LinesSoFar {
    std::size_t come = 0, left = 0;

    std::size_t known() const { return come - left; }
};

// One line comes, or the first that is known leaves.
struct BandMove {
    bool is_row = false, comes = false;
    LinesSoFar rows, cols; // behind this move

    const LinesSoFar &own() const { return is_row ? rows : cols; }
    const LinesSoFar &others() const { return is_row ? cols : rows; }
};

// What may be counted behind the move while so many of the known rows and columns wait: no more than has
// left, or than can still be matched.
WaitingRange waiting_range(const BandShape &shape, const BandMove &move, std::size_t rows, std::size_t cols);

// A column takes known rows, then the first of these may leave before the next comes; a row takes known
// columns, its own among them.
void each_move(const BandShape &shape, const std::function<void(const BandMove &)> &make);

} // namespace libperm
