// Rows of a matrix cut into numbers on two grids, so that sums with signs are exact. Columns stand as
// GridColumns has them, on a boundary of 32 bytes.
#pragma once

#include "jit/lanes/grid_columns.hpp"

namespace libperm {

// Raises largest[i] to the largest absolute value of a part in row i of n columns; false if one is not
// finite.
bool raise_to_largest(const GridColumns &columns, int n, double *largest);

// Rows with larger exponents than this are not scaled: their powers of two would be near the range's end.
constexpr int most_row_exponent = 900;

// Sums of n entries below 2^-spread are below 1.
int spread_of(int n);

// Where the parts go: each on the first grid, and what is left of it on the second; no `im` of real numbers.
struct GridParts {
    double *re, *re_low, *im = nullptr, *im_low = nullptr;
};

struct SignCut {
    bool splits = false, moves = false; // some entry has bits on the second grid; below it
};

// Cuts entries times their row's scale, which makes them less than 2^-spread. They may stay where they are.
// The first grid's unit is 2^-53, the second's 2^(spread - 107).
SignCut cut_to_grids(const GridColumns &columns, int n, const double *scale, int spread, const GridParts &to);

// The entries of row i, which are on the first grid alone, are multiples of 2 to this.
constexpr int unit_of_zeros = 11; // of a row that has nothing else
int unit_of_row(const GridColumns &columns, int n, int i);

} // namespace libperm
