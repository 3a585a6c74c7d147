// A matrix of integers modulo primes: what the engines compute exact permanents of; and the arithmetic
// modulo such a prime.
#pragma once

#include "preprocess/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <gmpxx.h>
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

// Residues modulo an odd p < 2^62, multiplied by Montgomery's method (Math. Comp. 44 (1985)): x stands for
// x 2^-64 modulo p.

class Montgomery {
  public:
    explicit Montgomery(std::uint64_t p) : p_(p), inverse_(p) {
        for (int k = 0; k < 5; ++k)
            inverse_ *= 2 - p * inverse_;      // 3 bits are right at first, then twice as many
        const std::uint64_t one = (0 - p) % p; // 2^64
        square_ = static_cast<std::uint64_t>(static_cast<Wide>(one) * one % p);
    }

    std::uint64_t prime() const { return p_; }
    std::uint64_t to(std::uint64_t x) const { return multiply(x % p_, square_); }
    std::uint64_t from(std::uint64_t x) const { return reduce(x); }

    std::uint64_t add(std::uint64_t x, std::uint64_t y) const {
        const std::uint64_t sum = x + y;
        return sum >= p_ ? sum - p_ : sum;
    }
    std::uint64_t subtract(std::uint64_t x, std::uint64_t y) const { return x >= y ? x - y : x + p_ - y; }
    std::uint64_t multiply(std::uint64_t x, std::uint64_t y) const {
        return reduce(static_cast<Wide>(x) * y);
    }
    std::uint64_t power(std::uint64_t x, std::uint64_t exponent) const {
        std::uint64_t result = to(1);
        for (; exponent != 0; exponent >>= 1, x = multiply(x, x))
            if (exponent & 1) result = multiply(result, x);
        return result;
    }
    // Of so many products, reduced once: each is below p^2 < 2^62 p, so four of them may be added to what is
    // below 2^64 p.
    std::uint64_t sum_of_products(const std::uint64_t *x, const std::uint64_t *y, std::size_t count) const {
        const Wide most = static_cast<Wide>(p_) << 64;
        const auto product = [=](std::size_t k) { return static_cast<Wide>(x[k]) * y[k]; };
        Wide sum = 0;
        std::size_t k = 0;
        for (; k + 4 <= count; k += 4) {
            sum += (product(k) + product(k + 1)) + (product(k + 2) + product(k + 3));
            if (sum >= most) sum -= most;
        }
        Wide rest = 0;
        for (; k < count; ++k) rest += product(k);
        sum += rest;
        return reduce(sum >= most ? sum - most : sum);
    }

  private:
    __extension__ using Wide = unsigned __int128;

    // x / 2^64 for x < 2^64 p: less q p, with q the low half of x / p, the low half is 0.
    std::uint64_t reduce(Wide x) const {
        const std::uint64_t q = static_cast<std::uint64_t>(x) * inverse_;
        const auto high = static_cast<std::uint64_t>(x >> 64),
                   less = static_cast<std::uint64_t>(static_cast<Wide>(q) * p_ >> 64);
        return high - less +
               (p_ & (0 - static_cast<std::uint64_t>(high < less))); // without a branch, a third faster
    }

    std::uint64_t p_, inverse_; // 1 / p modulo 2^64
    std::uint64_t square_ = 0;  // 2^128 modulo p
};

} // namespace libperm
