// What a plan knows of the values that it is made for.
#pragma once

#include "lib/number/precision.hpp"

namespace libperm {

struct Structure;

// What is known of a block's values: whether none is negative, whether some may have more than 24 bits, and
// what computes with them.
struct BlockValues {
    bool nonnegative = false, may_be_long = true;
    Numbers numbers;
    double entry_bits = 0;                // exact: of an integer entry, on average over the rows
    const Structure *structure = nullptr; // of the block, if it was looked for
};

} // namespace libperm
