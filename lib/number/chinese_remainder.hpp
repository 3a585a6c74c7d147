// From residues modulo primes back to the integer that they are of.
#pragma once

#include "preprocess/gaussian.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/poll.hpp"

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

} // namespace libperm
