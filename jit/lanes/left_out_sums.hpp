// Sums of products with each factor left out, on a CPU: all derivatives of a permanent, and the
// sub-permanents of a line.
//
// All derivatives by sums over signs (Glynn's formula, see sign_sum.hpp):
//
//   2^(n-1) d perm(A) / d a_kl = sum over d in {-1, 1}^n with d_0 = 1 of prod_j d_j * d_l * prod_{i != k}
//   x_i, x_i = sum_j d_j a_ij
//
// The products without one factor take three multiplications a row. The sums for all l come from sums over
// halves: where two halves of a walk differ in the sign of column l alone, their sum is the walk's and their
// difference is column l's. A walk of s steps has s - 1 such pairs, so a step costs O(n), not O(n^2).
//
// The permanents of a matrix with one row more than columns, without a copy of each row in turn, as one sum
// over counts (count_sum.hpp): with N columns in all,
//
//   2^N minor(l) = sum over k, 0 <= k_j <= c_j, of
//                  prod_j (-1)^k_j C(c_j, k_j) * prod_i x_i^r_i / x_l,   x_i = sum_j (c_j - 2 k_j) a_ij
//
// where the products are made without dividing.
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "jit/lanes/grid_columns.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

constexpr int least_gradient_order = 4, most_gradient_order = 40; // of columns, which count once each

// Pieces of the sum of derivatives, a power of two that follows from the columns alone.
std::uint64_t gradient_pieces(const CountedColumns &a);

// Additions on the way of a term: in a piece; to a sum that keeps what it loses.
int gradient_additions(const CountedColumns &a);
int minor_additions(const CountedColumns &a);

// Doubles that a thread works with, on a boundary of 64 bytes.
std::size_t gradient_space(const CountedColumns &a);
std::size_t minor_space(const CountedColumns &a);

// Of pieces first to last - 1, added to `sums`, a table of a's kinds of rows by its columns: by row i, a
// copy of it is left out. The same bits on every processor.
void add_gradient(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                  LineSums &sums);

// Of steps first to last - 1 of count_steps(a), added to `sums`, a table of one column. The same bits on
// every processor.
void add_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                LineSums &sums);

} // namespace libperm
