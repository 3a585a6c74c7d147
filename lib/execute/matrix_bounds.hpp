// Bounds of a whole matrix: after the reductions, block by block; blocks that are computed in no time are
// exact.
#pragma once

#include "lib/bounds/block_bounds.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"

#include <cstdint>
#include <string>

namespace libperm {

struct MatrixBounds {
    Bounded bounded;           // the methods: of the blocks that leave the widest interval
    bool of_magnitude = false; // of |perm|, some entries being negative or complex
    std::int64_t blocks = 0, blocks_exact = 0;
};

// The options that count are the limit of memory, the threads and the passes. Throws Error.
MatrixBounds bounds_of(const InputPattern &input, const Values &values, const Options &options);

// "perm(A) lies between 1.2e31 (gurvits) and 4.5e33 (soules)"; of blocks, how many are exact.
std::string text_of(const MatrixBounds &bounds);

} // namespace libperm
