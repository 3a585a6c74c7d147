// How many primes tell a number of so many bits.
#pragma once

#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct WhichPrimes {
    int bits = 0;                             // below 2^bits
    bool gaussian = false;                    // each twice (lib/number/residues.hpp)
    std::vector<std::uint64_t> left_out = {}; // in any order, some perhaps twice
};

// The largest such primes, as many as tell apart the numbers with |re|, |im| < 2^bits: their product is above
// 2^(bits + 1).
std::vector<std::uint64_t> enough_primes(std::int64_t bits, const WhichPrimes &which);

} // namespace libperm
