// Doubly stochastic matrices without a rounding, and the lower bounds of the permanent that they prove.
#pragma once

#include "lib/bounds/magnitudes.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// Entries in units of 2^-50, so that each, and what it lacks to 1, is a double; every row and column adds up
// to 2^50.
class DoublyStochastic {
  public:
    static constexpr std::int64_t one = std::int64_t{1} << 50;

    // Near b, which is nearly one, and 0 where b is: rounded, and what lines then lack is moved along a
    // spanning forest of the largest entries, from its leaves on. None where that would make an entry
    // negative.
    static std::optional<DoublyStochastic> near(const Pattern &a, const std::vector<double> &b);

    // A permutation.
    static DoublyStochastic of_matching(const Pattern &a, const std::vector<std::int32_t> &col_of_row);

    double operator[](std::size_t entry) const { return static_cast<double>(units_[entry]) * 0x1p-50; }

  private:
    std::vector<std::int64_t> units_;
};

// Lower bounds of the permanent of a nonnegative matrix, each proven by a matrix that is doubly stochastic
// without a rounding (docs/estimates.md).

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
