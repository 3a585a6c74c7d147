// The expansion of a permanent along a row or column with few entries (Forbert and Marx, J. Comput. Phys.
// 2003; SUperman, Eq. 6 and d34compress of Algorithm 4).
#pragma once

#include "preprocess/compression.hpp"
#include "preprocess/contraction.hpp"

namespace libperm {

// The line with the fewest entries; the lowest index of these, rows before columns (SUperman's choice).
Line lightest_line(const Pattern &a);

std::int32_t degree_of(const Pattern &a, Line line);

// Entries of the line are taken two and two, and the last one alone if their number is odd: perm is the sum
// over the parts, each smaller by one row and column. A line of degree 1 or 2 makes one part, 3 or 4 two.
template <class Value> std::vector<PartOf<Value>> expand(const BlockOf<Value> &block, Line line);

} // namespace libperm
