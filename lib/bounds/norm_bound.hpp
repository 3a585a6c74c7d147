// An upper bound of |perm| that knows of signs and phases.
#pragma once

#include "lib/bounds/magnitudes.hpp"

#include <complex>
#include <vector>

namespace libperm {

// The spectral norm, rounded up, by so many multiply-adds at most; infinite where these are too few.
double spectral_norm_above(const Pattern &a, const std::vector<std::complex<double>> &entries,
                           double most_work);

// log2 of  ||D A E||^n / prod_i d_i prod_j e_j  with the spectral norm: |perm(B)| <= ||B||^n, for by Glynn's
// formula it is at most the mean of prod_i |(Bx)_i| over the vectors x of signs, and each product at most
// (||Bx||^2 / n)^(n/2). D and E make rows and columns equally long. Infinite where the order is so large that
// it would take long.
double norm_above(const Magnitudes &m);

} // namespace libperm
