// The entries of an exact block as an engine with MPFR's numbers in its states takes them.
#pragma once

#include "lib/number/precision.hpp"
#include "preprocess/block.hpp"

#include <cstdint>

namespace libperm {

// To be MPFR's numbers of so many bits.
struct MpfrEntries {
    const ExactBlock &block;
    int bits;
};

bool is_complex(const ExactBlock &block);

int mpfr_limbs(const Numbers &numbers);
std::int64_t mpfr_number_bytes(const Numbers &numbers); // of a state; 0: of so many bits there are none

} // namespace libperm
