// Rows brought together by 1-SA and cut into blocks: the best of some widths and thresholds.
#pragma once

#include "bench/blocks/operators.hpp"
#include "bench/kernels/block_product.hpp"

#include <string>
#include <vector>

namespace bench {

struct Blocked {
    RowBlocks blocks;
    std::string how;
    double seconds = 0; // to find it
};

// With blocks of columns of one, or `width`; or the rows as they are.
Blocked blocked(const Rows &a, std::uint32_t width);

// A cell's factors multiplied out in groups, so that their blocks cost least.
struct Chain {
    std::vector<Rows> pieces;
    std::vector<Blocked> blocks;
};
Chain chain_of(const std::string &lattice);

} // namespace bench
