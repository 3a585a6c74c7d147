// From residues modulo primes back to the integer that they are of, and how many primes it takes.
#pragma once

#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

class ProductTree;

// Prepared once for so many primes, for many numbers: of n primes in M(n) log n steps, and so for
// each number, M being what GMP takes for a product of numbers of n words.
class ChineseRemainder {
  public:
    // `gaussian`: each prime stands there twice, and residues are as in residues_of
    // (lib/number/residues.hpp). `account` holds what the tree of products takes.
    ChineseRemainder(const std::vector<std::uint64_t> &primes, bool gaussian,
                     MemoryAccount *account = nullptr);
    ~ChineseRemainder();
    ChineseRemainder(const ChineseRemainder &) = delete;
    ChineseRemainder &operator=(const ChineseRemainder &) = delete;

    // The integer below half the product of the primes in absolute value, or the Gaussian integer with such
    // parts. Some may be asked for at the same time.
    Gaussian from(const std::vector<std::uint64_t> &residues) const;

  private:
    mpz_class symmetric(const std::vector<std::uint64_t> &residues) const;

    std::vector<std::uint64_t> primes_; // each once
    bool gaussian_;
    Charge charge_;
    std::unique_ptr<const ProductTree> tree_; // of the primes
};

// Puts one number together from its residues.
Gaussian from_residues(const std::vector<std::uint64_t> &primes, const std::vector<std::uint64_t> &residues,
                       bool gaussian, MemoryAccount *account = nullptr);

// What so many numbers take on one thread, about, in seconds.
double chinese_remainder_seconds(double primes, double numbers);

// How many primes tell a number of so many bits.

struct WhichPrimes {
    int bits = 0;                             // below 2^bits
    bool gaussian = false;                    // each twice (lib/number/residues.hpp)
    std::vector<std::uint64_t> left_out = {}; // in any order, some perhaps twice
};

// The largest such primes, as many as tell apart the numbers with |re|, |im| < 2^bits: their product is above
// 2^(bits + 1).
std::vector<std::uint64_t> enough_primes(std::int64_t bits, const WhichPrimes &which);

} // namespace libperm
