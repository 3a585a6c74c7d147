// The permanent of a matrix whose entries are c + l x, all coefficients at once, as a sum over counts
// (count_sum.hpp) of products of linear polynomials: with N columns in all,
//
//   2^N perm(C + x L) = sum over k, 0 <= k_j <= c_j, of
//                       prod_j (-1)^k_j C(c_j, k_j) * prod_i (y_i + z_i x)^r_i
//
// where y_i and z_i are row i's sums in C and in L.
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "jit/lanes/grid_columns.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

struct LinearColumns {
    CountedColumns columns; // the rows of C, and behind them as many of L
    int rows = 0;           // of one of them
    int degree = 0;
    // Of each row of L: a power of two that its sums are multiplied by; 0: there is none.
    const double *scale = nullptr;
    bool dd = false; // in double-doubles
};

// Doubles that a thread works with, on a boundary of 64 bytes.
std::size_t polynomial_space(const LinearColumns &a);

// Additions on the way of a term to a sum that keeps what it loses.
int polynomial_additions();

// Of steps first to last - 1 of count_steps(a.columns), added to `sums`, a table of one column with a row for
// each coefficient. The same bits on every processor.
void add_polynomials(const LinearColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                     LineSums &sums);

} // namespace libperm
