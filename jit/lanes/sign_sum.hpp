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

} // namespace libperm
