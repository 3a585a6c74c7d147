// A matrix of integers modulo primes: what the engines compute exact permanents of.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// One matrix for each prime; a prime may stand there more than once (of Gaussian integers, i is one square
// root of -1 in one matrix and the other in the next).
struct Residues {
    const Pattern &pattern;
    std::vector<std::uint64_t> primes;
    std::vector<std::vector<std::uint64_t>> values; // by matrix, by entry of the pattern: 0 .. prime - 1
};

} // namespace libperm
