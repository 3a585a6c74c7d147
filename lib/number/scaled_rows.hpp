// Rows scaled by powers of two so that their sums, whatever the signs, stay below 1: what all sums over
// subsets of columns begin with.
#pragma once

#include "preprocess/block.hpp"

#include <vector>

namespace libperm {

struct ScaledRows {
    std::vector<double> value; // by entry of the pattern; one that is tiny beside its row may have lost bits
    std::vector<double> absolute; // by row: the sum of the absolute values, in [1/2, 1), or 0
    std::vector<int> unit;        // by row: half of each entry, before any lost bits, is a multiple of 2^unit
    std::int64_t exp2 = 0;        // a product of one number of each row is to be multiplied by 2^exp2
};

ScaledRows scaled_rows(const Block &block);

} // namespace libperm
