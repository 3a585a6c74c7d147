// A shot of a planar block on its way.
#pragma once

#include "lib/base/randomness.hpp"
#include "lib/samples/planar/long_product.hpp"
#include "preprocess/index.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct PlanarShot {
    PlanarShot(const Randomness &numbers, std::int32_t n) : random(numbers), is_used(at(n), 0) {}

    Randomness random;
    std::vector<char> is_used;         // by column
    std::vector<std::int64_t> entries; // taken, by line
    LongProduct drawn, of;             // it was drawn with the probability drawn / of
    bool is_lost = false;              // nothing is known of how it goes on
};

} // namespace libperm
