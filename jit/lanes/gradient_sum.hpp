// All derivatives of a permanent by sums over signs (Glynn's formula, see sign_sum.hpp):
//
//   2^(n-1) d perm(A) / d a_kl = sum over d in {-1, 1}^n with d_0 = 1 of prod_j d_j * d_l * prod_{i != k}
//   x_i, x_i = sum_j d_j a_ij
//
// The products without one factor take three multiplications a row. The sums for all l come from sums over
// halves: where two halves of a walk differ in the sign of column l alone, their sum is the walk's and their
// difference is column l's. A walk of s steps has s - 1 such pairs, so a step costs O(n), not O(n^2).
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "jit/lanes/grid_columns.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

constexpr int least_gradient_order = 4, most_gradient_order = 40; // of columns, which count once each

// Pieces of the sum, a power of two that follows from the columns alone.
std::uint64_t gradient_pieces(const CountedColumns &a);

// Additions on the way of a term in a piece.
int gradient_additions(const CountedColumns &a);

// Doubles that a thread works with, on a boundary of 64 bytes.
std::size_t gradient_space(const CountedColumns &a);

// Of pieces first to last - 1, added to `sums`, a table of a's kinds of rows by its columns: by row i, a
// copy of it is left out. The same bits on every processor.
void add_gradient(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                  LineSums &sums);

} // namespace libperm
