// How many columns of each kind are used, each in a counter of its own; of single columns, which: the key of
// the sparse frontier. Keys compare as numbers, highest word first. A counter never overflows and lies inside
// one word, so that adding to it is adding words.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace libperm {

template <int Words> struct StateKey {
    std::array<std::uint64_t, Words> word{}; // slots 64 w .. 64 w + 63 in word[Words - 1 - w]

    static StateKey slot(std::int32_t s, std::uint64_t count = 1) { // count 2^w - 1: a counter of w bits
        StateKey k;
        k.word[word_of(s)] = count << (s % 64);
        return k;
    }
    static std::size_t word_of(std::int32_t s) { return static_cast<std::size_t>(Words - 1 - s / 64); }
    std::uint64_t at(std::size_t w) const { return word[Words == 1 ? 0 : w]; }

    static StateKey slots_from(std::int32_t s) { // this slot and all above it
        StateKey k;
        for (int w = 0; w < Words; ++w)
            k.word[static_cast<std::size_t>(Words - 1 - w)] = s < 64 * w ? ~std::uint64_t{0}
                                                              : s >= 64 * w + 64
                                                                  ? 0
                                                                  : ~std::uint64_t{0} << (s % 64);
        return k;
    }

    friend StateKey operator+(StateKey x, const StateKey &y) {
        for (std::size_t w = 0; w < Words; ++w) x.word[w] += y.word[w];
        return x;
    }
    friend StateKey operator-(StateKey x, const StateKey &y) {
        for (std::size_t w = 0; w < Words; ++w) x.word[w] -= y.word[w];
        return x;
    }
    friend StateKey operator|(StateKey x, const StateKey &y) {
        for (std::size_t w = 0; w < Words; ++w) x.word[w] |= y.word[w];
        return x;
    }
    friend StateKey operator&(StateKey x, const StateKey &y) {
        for (std::size_t w = 0; w < Words; ++w) x.word[w] &= y.word[w];
        return x;
    }
    friend StateKey operator^(StateKey x, const StateKey &y) {
        for (std::size_t w = 0; w < Words; ++w) x.word[w] ^= y.word[w];
        return x;
    }
    friend StateKey operator<<(const StateKey &x, std::int32_t by) {
        StateKey k;
        const auto words = static_cast<std::size_t>(by / 64);
        for (std::size_t w = 0; w + words < Words; ++w) {
            k.word[w] = x.word[w + words] << by % 64;
            if (by % 64 != 0 && w + words + 1 < Words) k.word[w] |= x.word[w + words + 1] >> (64 - by % 64);
        }
        return k;
    }
    friend auto operator<=>(const StateKey &, const StateKey &) = default;
    friend bool operator==(const StateKey &x,
                           const StateKey &y) { // word by word: a call for each takes longer
        std::uint64_t difference = 0;
        for (std::size_t w = 0; w < Words; ++w) difference |= x.word[w] ^ y.word[w];
        return difference == 0;
    }

    bool meets(const StateKey &bits) const {
        std::uint64_t common = 0;
        for (std::size_t w = 0; w < Words; ++w) common |= word[w] & bits.word[w];
        return common != 0;
    }

    // The least key that is no less than this one and holds these bits.
    StateKey least_with(const StateKey &bits) const {
        StateKey k = *this;
        for (std::size_t w = 0; w < Words; ++w) {
            const std::uint64_t missing = bits.word[w] & ~word[w];
            if (missing == 0) continue;
            const std::uint64_t above = ~((std::bit_floor(missing) << 1) - 1); // 2^64 wraps to none
            k.word[w] = (word[w] & above) | (bits.word[w] & ~above);
            for (std::size_t below = w + 1; below < Words; ++below) k.word[below] = bits.word[below];
            break;
        }
        return k;
    }

    // Tells whether this is `bits` at the places of `mask`.
    bool shows(const StateKey &bits, const StateKey &mask) const {
        std::uint64_t difference = 0;
        for (std::size_t w = 0; w < Words; ++w) difference |= (word[w] & mask.word[w]) ^ bits.word[w];
        return difference == 0;
    }
};

} // namespace libperm
