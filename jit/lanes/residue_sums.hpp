// Sums of residues on a CPU, eight side by side: what a row of ones comes to, modulo primes just below 2^59.
//
// Sums of 31 numbers of little more than 59 bits fit 64, so it is not each addition that is reduced but each
// sum, and that by the prime's form: 2^59 is what the prime lacks to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace libperm {

constexpr int residue_lanes = 8;
constexpr int residue_lane_bits = 59;
constexpr std::uint64_t most_below = std::uint64_t{1} << 32; // 2^59 that a prime may lie

struct alignas(64) ResidueLanes {
    std::array<std::uint64_t, residue_lanes> lane{}; // not less than their residues, and below 2^59 + 2^37
};

// after[t], for begin <= t < end: the sum of before[source[k]] over k from first[t] to first[t + 1] - 1. The
// primes are 2^59 - below. The same bits on every processor.
void add_up_residues(const std::uint32_t *first, const std::uint32_t *source, std::size_t begin,
                     std::size_t end, const ResidueLanes &below, const ResidueLanes *before,
                     ResidueLanes *after);

} // namespace libperm
