// An exact block as a sum over subsets in fixed precision takes it: scaled by powers of two so that the row
// sums stay below 1, on a grid on which they round nowhere and so do not drift.
#pragma once

#include "lib/number/scaled.hpp"
#include "preprocess/block.hpp"

#include <gmpxx.h>

#include <vector>

namespace libperm {

struct GridBlock {
    int bits;                      // entries are multiples of 2^-bits
    std::vector<mpz_class> re, im; // by entry, in these units; in each row their absolute values add up to
                                   // less than 1, of the real and of the imaginary parts
    std::int64_t exp2 = 0;         // the permanent is to be multiplied by 2^exp2
    std::int64_t unit = 0;         // a product of row sums is a multiple of 2^unit, halves included
    Scaled moved;                  // by so much at most has the permanent been moved, in units of 2^exp2
};

// Some of the block's entries other than 0 are a perfect matching.
bool has_perfect_matching(const ExactBlock &block);

// The block has a perfect matching.
GridBlock on_grid(const ExactBlock &block, int bits);

} // namespace libperm
