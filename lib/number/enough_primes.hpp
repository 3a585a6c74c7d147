// How many primes tell a number of so many bits.
#pragma once

#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// The largest primes below 2^prime_bits, as many as tell apart the numbers with |re|, |im| < 2^bits: their
// product is above 2^(bits + 1). `gaussian`: each twice (lib/number/residues.hpp).
std::vector<std::uint64_t> enough_primes(std::int64_t bits, int prime_bits, bool gaussian,
                                         const Poll &poll = no_poll);

} // namespace libperm
