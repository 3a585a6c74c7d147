// About how large the permanent of a nonnegative matrix is.
#pragma once

#include <cstdint>
#include <span>

namespace libperm {

// Entries of column j are column_ptr[j] .. column_ptr[j + 1] - 1.
struct Columns {
    std::span<const std::int64_t> column_ptr; // n + 1
    std::span<const std::int32_t> row;
    std::span<const double> value; // >= 0
};

// log2 of prod_ij (1 - b_ij)^(1 - b_ij), b the doubly stochastic scaling of the matrix, which is no more than
// the permanent of b (Gurvits and Samorodnitsky, Bounds on the permanent and some applications, FOCS 2014),
// times sqrt(2 pi n / e), what it lacks where all entries are equal (Stirling's formula): within a tenth of
// the permanent of random matrices, above it by up to that factor for those of a narrow band. Minus infinity
// where a line is empty.
double log2_permanent_estimate(const Columns &a);

} // namespace libperm
