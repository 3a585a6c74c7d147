// Sums over signs on a CPU, many side by side (Glynn, The permanent of a square matrix, European J. Combin.
// 31 (2010)):
//
//   2^(n-1) perm(A) = sum over d in {-1, 1}^n with d_0 = 1 of prod_j d_j * prod_i sum_j d_j a_ij
#pragma once

#include "jit/lanes/grid_columns.hpp"

#include <cstdint>

namespace libperm {

constexpr int least_sign_order = 4, most_sign_order = 20;

struct SignColumns : GridColumns {
    int n = 0;
};

// Of eight terms each, that a step adds up before they go to the sum: 1, 2 or 4.
int vectors_of_step(const SignColumns &a);

// Signs that are summed at once, of which a step is made; the steps follow a Gray code.
std::uint64_t sign_steps(const SignColumns &a);

// Of steps first to last - 1. The same bits on every processor.
TermSum sum_over_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last);

// Rows of a matrix cut into numbers on two grids, so that sums with signs are exact. Columns stand as
// GridColumns has them, on a boundary of 32 bytes.

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
