// A square matrix on its way through the reductions: what is left of the input, or a part of it.
#pragma once

#include "preprocess/pattern.hpp"
#include "preprocess/tracked.hpp"

#include <vector>

namespace libperm {

struct Block {
    Pattern pattern;
    std::vector<Tracked> values; // by entry; one whose magnitude is 0 counts as an entry of the pattern
    std::int32_t n() const { return pattern.rows; }
};

// On the way of any term of the permanent, at most: every term takes one entry of each row and column.
double most_roundings(const Block &block);

Block transposed(const Block &block);

} // namespace libperm
