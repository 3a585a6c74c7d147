// Exact scaling of rows and columns by powers of two, so that no intermediate overflows or underflows.
//
// Duff and Koster, SIAM J. Matrix Anal. Appl. 22 (2001), on binary exponents: the duals of the assignment
// that maximises the product of the entries make every entry < 1 in absolute value and those of one perfect
// matching
// >= 1/2. Then perm(|A|) >= 2^-n, while row sums are at most the degrees.
#pragma once

#include "preprocess/block.hpp"

namespace libperm {

// a[i,j] becomes a[i,j] * 2^(row[i] + col[j]); the permanent gains the factor 2^total.
// Of a graph each line is scaled, a loop once, so that the hafnian gains the factor; as the geometric mean of
// what both halves of its matrix have.
struct PowerScaling {
    std::vector<std::int64_t> row, col;
    std::int64_t total = 0;

    std::int64_t of(const Pattern &a, std::int32_t i, std::int32_t j) const {
        const std::int64_t of_row = row[static_cast<std::size_t>(i)];
        return a.one_sided && i == j ? of_row : of_row + col[static_cast<std::size_t>(j)];
    }
};

// Of the magnitudes, which must have a perfect matching. All zero when the entries are so alike that nothing
// can go out of range.
PowerScaling power_scaling(const Block &block);

// Scales the block, and returns `total`. Equal rows and columns stay equal: the duals that their scales are
// taken from are optimal.
std::int64_t scale(Block &block);

} // namespace libperm
