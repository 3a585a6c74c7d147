// Permanents in exact rational arithmetic (GMP), by three methods that share no code with the library. A
// double is a rational number, so every finite matrix has an exact permanent to compare with.
#pragma once

#include <perm.hpp>

#include "preprocess/numbers.hpp"

#include <gmpxx.h>

#include <vector>

namespace oracle {

using Exact = mpq_class;

// The sum over all permutations of the definition; n <= 9.
Exact by_definition(const perm::Csr &a);

// Ryser 1963: perm(A) = (-1)^n sum over column sets S of (-1)^|S| prod_i sum_{j in S} a[i,j]; n <= 16.
Exact by_ryser(const perm::Csr &a);

// Row after row, for each reachable set of used columns the sum of the ways to it; as wide as memory allows.
Exact by_frontier(const perm::Csr &a);

// The determinant, by fraction-free elimination (Bareiss 1968): with Kasteleyn's signs an oracle for planar
// graphs of any size.
Exact determinant(const perm::Csr &a);

using libperm::Gaussian; // no more than its parts
using GaussianMatrix = std::vector<std::vector<Gaussian>>;

// Of complex numbers with rational parts, row after row over the sets of used columns; n <= 16.
Gaussian by_subsets(const GaussianMatrix &a);

} // namespace oracle
