// Where good bounds are to be looked for: scalings and marginals found by iterations that may stop anywhere.
// Nothing here need be exact; what is certain is made of it in lower_bounds.hpp and the bounds.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstddef>
#include <cstdint>
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

} // namespace libperm
