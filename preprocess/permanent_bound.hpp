// How large a permanent of nonnegative numbers can be, for error bounds that need no more than its order.
#pragma once

#include "preprocess/block.hpp"

#include <cstdint>

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

} // namespace libperm
