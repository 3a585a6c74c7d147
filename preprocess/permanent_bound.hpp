// How large a permanent of nonnegative numbers is: at most, and about.
#pragma once

#include "preprocess/block.hpp"

#include <cstdint>
#include <span>

namespace libperm {

struct PermanentBound {
    double mantissa = 0; // in [1/2, 1), or 0
    std::int64_t exp2 = 0;
};

// At least the permanent of the magnitudes, which must have a perfect matching: the smaller of the bounds by
// rows and by columns
//   prod_i sum_k (delta(k) - delta(k-1)) m_i(k),   m_i(1) >= m_i(2) >= ...,   delta(k) = (k!)^(1/k)
// (Soules, Linear Multilinear Algebra 51 (2003)): a row is a sum of (m_i(k) - m_i(k+1)) times the indicator
// of its k largest entries, the permanent is linear in each row, and 0/1 rows are Minc and Bregman's.
//
// Of a graph at least the hafnian: its square is no more than the permanent of both halves of the matrix,
// because two matchings make even cycles, which have as many directions (Alon and Friedland, Electron. J.
// Combin. 15 (2008)). With loops at least prod_i max(1, the sum of a_ij over j >= i), once scaled.
PermanentBound permanent_bound(const Block &block);

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
