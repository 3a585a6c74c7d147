// The entries of an exact block as an engine of more than one double for a number takes them.
#pragma once

#include "lib/number/wide_value.hpp"

#include <array>
#include <vector>

namespace libperm {

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
