// Lower bounds of the permanent of a nonnegative matrix, each proven by a matrix that is doubly stochastic
// without a rounding (docs/estimates.md).
#pragma once

#include "lib/bounds/doubly_stochastic.hpp"
#include "lib/bounds/magnitudes.hpp"

namespace libperm {

// For any doubly stochastic b, 0 where `lower` is:
//   perm(A) >= prod_ij (a_ij / b_ij)^b_ij (1 - b_ij)^(1 - b_ij)
// (Gurvits, Unleashing the power of Schrijver's permanental inequality with the help of the Bethe
// approximation, 2011).
double bethe_below(const Magnitudes &m, const DoublyStochastic &b);

// And perm(A) >= cap(A) prod_j g(min(j, d_j)), g(k) = (1 - 1/k)^(k - 1), with d_1 >= d_2 >= ... the columns'
// numbers of entries, or the rows', and cap(A) >= prod_ij (a_ij / b_ij)^b_ij (Gurvits, Van der
// Waerden/Schrijver-Valiant like conjectures and stable homogeneous polynomials, Electron. J. Combin. 15
// (2008), Theorem 1.10).
double gurvits_below(const Magnitudes &m, const DoublyStochastic &b);

} // namespace libperm
