// The moves of a walk through a matrix: rows and columns come in their order, and lines that wait are counted
// with those that are alike. Beside a band, along which they come in pairs, a line is known by itself as long
// as the band is not behind it.
#pragma once

#include "lib/structure/separable/generators.hpp"

#include <cstddef>
#include <vector>

namespace libperm {

struct WalkShape {
    std::vector<ComingLines> steps;
    std::size_t n = 0;
    LineKinds rows, cols;
    bool is_transposed = false; // rows are below the diagonal: the transpose has the same permanent

    bool has_band() const { return rows.width > 0 || cols.width > 0; }
    // Lines that may be known at once. Beside a band a column is known until its own row has come.
    std::size_t known_rows() const { return rows.width; }
    std::size_t known_cols() const { return has_band() ? cols.width + 1 : 0; }
};
// With fewer kinds of rows than of columns, as the inner loop is one over columns; else with the wider side
// as rows, which leave the band before the next one comes.
WalkShape walk_shape(std::vector<ComingLines> steps, const LineKinds &above, const LineKinds &below);

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

// One line comes, or the first that is known leaves to be counted, or one does both at once.
struct WalkMove {
    bool is_row = false, comes = false, leaves = false;
    bool has_pair = false; // of a column and a row that come at one step, and are counted at once
    std::size_t line = 0;  // the step at which it comes
    LinesSoFar rows, cols; // behind this move
    double products = 0;   // that it takes

    const LinesSoFar &own() const { return is_row ? rows : cols; }
    const LinesSoFar &others() const { return is_row ? cols : rows; }
    bool stays_known() const { return comes && !leaves; }
};

// What may be counted behind the move while so many of the known rows and columns wait: no more than has
// left, or than can still be matched.
WaitingRange waiting_range(const WalkShape &shape, const WalkMove &move, std::size_t rows, std::size_t cols);

// What a walk does, by step. A column takes known rows, then the first of these may leave before the next
// comes; a row takes known columns, its own among them.
struct WalkMoves {
    std::vector<std::vector<WalkMove>> steps;
    double products = 0, most_beside_a_set = 0; // in all; numbers, at most
};
WalkMoves moves_of(const WalkShape &shape);

} // namespace libperm
