// Numbers of more than one double on their way between exact blocks and engines.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "preprocess/block.hpp"

#include <array>
#include <vector>

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

// The entries of an exact block as an engine of more than one double for a number takes them.

// There are as many doubles as the arithmetic's numbers have, in their order (jit/device/number.cuh).
using PackedParts = std::array<double, 4>;

PackedParts packed(const Parts &parts, Arithmetic arithmetic);
Parts unpacked(const PackedParts &parts, Arithmetic arithmetic);

// Their permanent is 2^exp2 times the block's.
struct WideEntries {
    Arithmetic arithmetic = Arithmetic::complex;
    bool nonnegative = false;       // real ones >= 0
    Block magnitudes;               // scaled
    std::vector<PackedParts> parts; // by entry, times the power of two of its magnitude; rounded once
    std::int64_t exp2 = 0;
};

// The same entries, of double-doubles, as complex ones.
WideEntries in_complex_dd(WideEntries entries);

// If they are to be scaled, the entries that are not 0 must have a perfect matching.
WideEntries wide_entries(const ExactBlock &block, Arithmetic arithmetic, bool scaled = true);

} // namespace libperm
