// Rows scaled by powers of two so that their sums, whatever the signs, stay below 1: what all sums over
// subsets of columns begin with.
#pragma once

#include "preprocess/block.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct ScaledRow {
    std::int64_t exp2 = 0; // its entries are 2 to this times what they are here
    double absolute = 0;   // the sum of their absolute values, in [1/2, 1), or 0
    int unit = 0;          // half of each is a multiple of 2^unit

    double value(const Tracked &x) const; // of an entry; one that is tiny beside its row may lose bits
};
ScaledRow scaled_row(const Block &block, std::int32_t row);

struct ScaledRows {
    std::vector<double> value;    // by entry of the pattern
    std::vector<double> absolute; // by row
    std::vector<int> unit;
    std::int64_t exp2 = 0; // a product of one number of each row is to be multiplied by 2^exp2
};

ScaledRows scaled_rows(const Block &block);

} // namespace libperm
