// A matrix of integers modulo primes: what the engines compute exact permanents of.
#pragma once

#include "preprocess/pattern.hpp"
#include "preprocess/poll.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace libperm {

// One matrix for each prime; a prime may stand there more than once (of Gaussian integers, i is one square
// root of -1 in one matrix and the other in the next).
struct Residues {
    const Pattern &pattern;
    std::vector<std::uint64_t> primes;
    std::vector<std::vector<std::uint64_t>> values; // by matrix, by entry of the pattern: 0 .. prime - 1
    std::vector<std::int64_t> entries = {};         // by whose order instead, if there are any: ascending
};

bool is_prime(std::uint64_t n);
constexpr std::uint64_t most_modulus = std::uint64_t{1} << 62; // below which primes are

// The `count` largest primes below 2^bits <= 2^62, descending. `gaussian`: of those that are 1 modulo 4, each
// twice.
std::vector<std::uint64_t> primes_below(int bits, std::size_t count, bool gaussian);

std::uint64_t square_root_of_minus_one(std::uint64_t p); // the same each time; p is 1 modulo 4

// re + i im by entry of the pattern. Unless `im` is empty primes come in pairs: of the first matrix of each i
// is square_root_of_minus_one, of the second it is the other root.
Residues residues_of(const Pattern &pattern, const std::vector<mpz_class> &re,
                     const std::vector<mpz_class> &im, std::vector<std::uint64_t> primes);

} // namespace libperm
