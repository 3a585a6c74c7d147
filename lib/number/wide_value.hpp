// Numbers of more than one double on their way between exact blocks and engines.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "preprocess/block.hpp"

#include <array>

namespace libperm {

// re hi, re lo, im hi, im lo; the lows are 0 unless the arithmetic is dd.
using Parts = std::array<double, 4>;

// x * 2^-exp2, each part rounded to nearest; numbers below 2^-1022 lose bits.
Parts parts_of(const Gaussian &x, std::int64_t exp2, Arithmetic arithmetic);
Gaussian exact_of(const Parts &parts, std::int64_t exp2);

// Rounded to nearest, once unless it is a double (with an exponent of any size).
Tracked tracked_of(const mpq_class &x);

// The block's own values, which no reduction has rounded.
ExactBlock exact_block(const Block &block);
inline const ExactBlock &exact_block(const ExactBlock &block) { return block; }

std::int64_t bytes_made_exact(const Block &block); // that this takes, about
inline std::int64_t bytes_made_exact(const ExactBlock &) { return 0; }

// Of each entry a number that is not below its absolute value, by at most 2^-50 of it, and that has been
// rounded once: what reductions, scaling and error bounds take for the block.
Block magnitudes_of(const ExactBlock &block);
Tracked magnitude_of(const Gaussian &x);
Tracked magnitude_of(const mpz_class &x);

} // namespace libperm
