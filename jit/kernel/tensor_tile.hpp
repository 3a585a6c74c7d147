// What products by tensor cores have in common (jit/device/tensor_tile.cuh): how their residues stay exact.
#pragma once

#include <cstdint>

namespace libperm {

// What follows stands in device/tensor_tile.cuh as well.
constexpr std::uint32_t tile_rows = 16, tile_columns = 8, tile_step = 4;

// What a reduced residue is at most: the quotient may be half a unit and |x| 2^-53 / p < 1 / p off.
constexpr std::uint64_t largest_residue(std::uint64_t prime) { return (prime + 1) / 2; }

// So many products of a whole number |a| <= largest and a residue can be added to a residue before the sum
// leaves 2^53. Of residues times residues that is 32 for primes below 2^25, 128 below 2^24, 512 below 2^23;
// of the small whole numbers of counting it is more, for larger primes.
constexpr std::uint64_t products_before_reducing(std::uint64_t largest, std::uint64_t prime) {
    const std::uint64_t residue = largest_residue(prime);
    return ((std::uint64_t{1} << 53) - 1 - residue) / residue / (largest == 0 ? 1 : largest);
}

} // namespace libperm
