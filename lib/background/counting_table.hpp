// The weights of a sparse matrix's matchings modulo a prime, by a number that each entry adds to and by which
// open lines they have.
//
// Numbers are kept below 2p, and multiplied by factors that bring floor(2^64 a / p) along (Shoup; Harvey, J.
// Symbolic Comput. 60 (2014), Theorem 1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// A polynomial for each set of open lines: x^k is for matchings whose entries add up to k. Lines that a
// matching has not bring their own weights.
class CountingTable {
    __extension__ using Wide = unsigned __int128;

  public:
    struct Factor {
        std::uint64_t value, quotient;
    };
    struct Term {
        std::int32_t slot;
        Factor weight;
        std::size_t adds;
    };

    // For polynomials of so many coefficients and at most so many open lines; p < 2^62.
    CountingTable(std::uint64_t p, std::size_t coefficients, std::int32_t most_open)
        : p_(p), length_(coefficients), numbers_(coefficients << most_open) {
        numbers_[0] = 1;
    }

    Factor factor(std::uint64_t a) const { // below p
        return {a, static_cast<std::uint64_t>((static_cast<Wide>(a) << 64) / p_)};
    }

    // A line opens; with each open one in a slot that it shares an entry with, both may be taken.
    void open(const std::vector<Term> &terms) {
        const std::size_t half = sets(), size = half * length_;
        std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(size), size, 0);
        std::size_t most = 0;
        for (const Term &t : terms) most = std::max(most, t.adds);
        used_ = std::min(used_ + most, length_);
        for (const auto [slot, weight, adds] : terms) {
            const std::size_t bit = std::size_t{1} << slot, left = used_ - adds;
            for (std::size_t set = 0; set < half; ++set) {
                if (set & bit) continue;
                const std::uint64_t *const from = of(set);
                std::uint64_t *const to = of(half | set | bit) + adds;
                for (std::size_t k = 0; k < left; ++k) to[k] = add(to[k], multiply(weight, from[k]));
            }
        }
        ++open_;
    }

    // A line without other entries to come: it was taken, or is left out with its weight.
    void close(std::int32_t slot, const Factor &left_out) {
        const std::size_t bit = std::size_t{1} << slot, half = sets() / 2;
        for (std::size_t set = 0; set < half; ++set) {
            const std::size_t without = (set & (bit - 1)) | (set & ~(bit - 1)) << 1;
            const std::uint64_t *const free = of(without), *const taken = of(without | bit);
            std::uint64_t *const to = of(set); // which is not above `without`
            if (left_out.value == 1)
                for (std::size_t k = 0; k < used_; ++k) to[k] = add(taken[k], free[k]);
            else
                for (std::size_t k = 0; k < used_; ++k) to[k] = add(taken[k], multiply(left_out, free[k]));
        }
        --open_;
    }

    std::size_t sets() const { return std::size_t{1} << open_; }
    // Below p, of the matchings whose entries add up to k, when all lines are closed.
    std::uint64_t weight(std::size_t k) const { return numbers_[k] % p_; }

  private:
    std::uint64_t *of(std::size_t set) { return numbers_.data() + set * length_; }
    std::uint64_t add(std::uint64_t x, std::uint64_t y) const {
        const std::uint64_t sum = x + y;
        return std::min(sum, sum - 2 * p_); // below 0 is far above
    }
    std::uint64_t multiply(const Factor &a, std::uint64_t x) const {
        return a.value * x - static_cast<std::uint64_t>(static_cast<Wide>(a.quotient) * x >> 64) * p_;
    }

    std::uint64_t p_;
    std::size_t length_, used_ = 1; // coefficients: all, and those that may not be 0
    std::int32_t open_ = 0;
    std::vector<std::uint64_t> numbers_;
};

} // namespace libperm
