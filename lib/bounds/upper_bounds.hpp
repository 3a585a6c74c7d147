// Upper bounds of the permanent of nonnegative matrices, and so of |perm| of any. Each holds for all column
// factors (docs/estimates.md): where these come from need not be exact.
#pragma once

#include "lib/bounds/doubly_stochastic.hpp"
#include "lib/bounds/magnitudes.hpp"

#include <complex>
#include <vector>

namespace libperm {

// log2 of  prod_i sum_k (delta(k) - delta(k-1)) m_i(k) / prod_j e_j,   m_i(1) >= m_i(2) >= ... the row's
// entries times the factors e, delta(k) = (k!)^(1/k) (Soules, Linear Multilinear Algebra 51 (2003); of 0 and
// 1 it is Minc and Bregman's). The factors are improved from those given, for rows and, of the transpose, for
// columns.
double soules_above(const Magnitudes &m, const Balanced &start);

// log2 of  2^(n/2) max over doubly stochastic b of prod_ij (a_ij / b_ij)^b_ij (1 - b_ij)^(1 - b_ij)  (Anari
// and Rezaei, A tight analysis of Bethe approximation for permanent, FOCS 2019). The maximum is bounded by
// its dual at the factors of `found`.
double bethe_above(const Magnitudes &m, const Beliefs &found);

// log2 of the bound that walks along the columns keep, the better of the matrix's and the transpose's
// (potential.hpp).
double nesting_above(const Magnitudes &m);

// An upper bound of |perm| that knows of signs and phases.

// The spectral norm, rounded up, by so many multiply-adds at most; infinite where these are too few.
double spectral_norm_above(const Pattern &a, const std::vector<std::complex<double>> &entries,
                           double most_work);

// log2 of  ||D A E||^n / prod_i d_i prod_j e_j  with the spectral norm: |perm(B)| <= ||B||^n, for by Glynn's
// formula it is at most the mean of prod_i |(Bx)_i| over the vectors x of signs, and each product at most
// (||Bx||^2 / n)^(n/2). D and E make rows and columns equally long. Infinite where the order is so large that
// it would take long.
double norm_above(const Magnitudes &m);

} // namespace libperm
