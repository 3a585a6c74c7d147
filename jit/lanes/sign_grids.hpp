// Rows of a small matrix cut into numbers on two grids, so that sums with signs are exact. Columns as
// SignColumns has them: `stride` a multiple of 4, on a boundary of 32 bytes.
#pragma once

namespace libperm {

// Raises largest[i] to the largest absolute value of row i; false if an entry is not finite.
bool raise_to_largest(const double *columns, int n, int stride, double *largest);

// The grids by constants that leave multiples of their last bit where they are added and subtracted again.
struct SignGrids {
    double high, low;
};

struct SignCut {
    bool splits = false, moves = false; // some entry has bits on the low grid; below it
};

// Entries times their row's scale.
SignCut cut_to_grids(const double *columns, int n, int stride, const double *scale, SignGrids grids,
                     double *high, double *low);

} // namespace libperm
