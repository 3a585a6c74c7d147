// The permanents of a matrix with one row more than columns, without a copy of each row in turn, as one sum
// over counts (count_sum.hpp): with N columns in all,
//
//   2^N minor(l) = sum over k, 0 <= k_j <= c_j, of
//                  prod_j (-1)^k_j C(c_j, k_j) * prod_i x_i^r_i / x_l,   x_i = sum_j (c_j - 2 k_j) a_ij
//
// where the products are made without dividing (left_out-inl.hpp).
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "jit/lanes/grid_columns.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

// Doubles that a thread works with, on a boundary of 64 bytes.
std::size_t minor_space(const CountedColumns &a);

// Additions on the way of a term to a sum that keeps what it loses.
int minor_additions(const CountedColumns &a);

// Of steps first to last - 1 of count_steps(a), added to `sums`, a table of one column. The same bits on
// every processor.
void add_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                LineSums &sums);

} // namespace libperm
