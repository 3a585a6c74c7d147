// Doubly stochastic matrices. Where good bounds are to be looked for: scalings and marginals found by
// iterations that may stop anywhere, none of which need be exact. Then such matrices without a rounding,
// and the lower bounds of the permanent of a nonnegative matrix that they prove (docs/estimates.md).
#pragma once

#include "lib/bounds/magnitudes.hpp"
#include "preprocess/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// use(i, j, k): of each entry its row, its column and its number.
template <class Use> void for_entries(const Pattern &a, const Use &use) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            use(static_cast<std::size_t>(i), static_cast<std::size_t>(j), k++);
}

// A problem for them: entries >= 0 of a square matrix; those that are 0 have no part in anything.
struct Weights {
    const Pattern &pattern;
    std::vector<double> value;
};

// value * row * column is about doubly stochastic (Sinkhorn and Knopp, Pacific J. Math. 21 (1967)).
struct Balanced {
    std::vector<double> row, column;
    std::vector<double> entry; // scaled
};
Balanced balanced(const Weights &w);

// About the maximum of Bethe's function and the dual that goes with it, by passing messages between rows
// and columns (Vontobel, The Bethe permanent of a nonnegative matrix, IEEE Trans. Inf. Theory 59 (2013)).
struct Beliefs {
    std::vector<double> entry;  // b: rows add up to 1, columns about
    std::vector<double> column; // z: b (1 - b) is about value * z_j, but for a factor of each row
};
Beliefs beliefs(const Weights &w, const Balanced &start);

// The nearest doubly stochastic matrix, relative to b, but for roundings: b_ij (1 + u_i + v_j) with u and v
// of a least squares problem, by conjugate gradients. Near enough entries stay positive; others become 0.
void correct_sums(const Pattern &a, std::vector<double> &b);

// How often an iteration over so many entries may be repeated: some ten milliseconds.
int affordable_turns(std::int64_t entries);

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
