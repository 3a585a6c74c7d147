// Sums over signs on a CPU, many side by side (Glynn, The permanent of a square matrix, European J. Combin.
// 31 (2010)):
//
//   2^(n-1) perm(A) = sum over d in {-1, 1}^n with d_0 = 1 of prod_j d_j * prod_i sum_j d_j a_ij
#pragma once

#include <cstdint>

namespace libperm {

constexpr int least_sign_order = 4, most_sign_order = 20;

// Row i's entry in column j stands at [j * stride + i], from 0 up to stride - 1. All sums of a row's entries
// with signs must be doubles, in each of these arrays by itself.
struct SignColumns {
    int n = 0, stride = 0;
    const double *re = nullptr, *im = nullptr;         // im: null of real numbers
    const double *re_low = nullptr, *im_low = nullptr; // to be added to the sums of the others; null: zeros

    bool is_complex() const { return im != nullptr; }
    bool is_split() const { return re_low != nullptr; }
};

// The sums of the terms, and what adding them up has lost; the sum of the terms' absolute values (complex: of
// |re| + |im|).
struct SignSum {
    double re = 0, re_rest = 0, im = 0, im_rest = 0, mass = 0;
};

// Of eight terms each, that a step adds up before they go to the sum: 1, 2 or 4.
int vectors_of_step(const SignColumns &a);

// Signs that are summed at once, of which a step is made; the steps follow a Gray code.
std::uint64_t sign_steps(const SignColumns &a);

// Of steps first to last - 1. The same bits on every processor.
SignSum sum_over_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last);

} // namespace libperm
