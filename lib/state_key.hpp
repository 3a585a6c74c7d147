// A set of used columns, by slot: the key of the sparse frontier. Keys compare as numbers, highest word
// first.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace libperm {

template <int Words> struct StateKey {
    std::array<std::uint64_t, Words> word{}; // slots 64 w .. 64 w + 63 in word[Words - 1 - w]

    static StateKey slot(std::int32_t s) {
        StateKey k;
        k.word[static_cast<std::size_t>(Words - 1 - s / 64)] = std::uint64_t{1} << (s % 64);
        return k;
    }
    static StateKey slots_from(std::int32_t s) { // this slot and all above it
        StateKey k;
        for (int w = 0; w < Words; ++w)
            k.word[static_cast<std::size_t>(Words - 1 - w)] = s < 64 * w ? ~std::uint64_t{0}
                                                              : s >= 64 * w + 64
                                                                  ? 0
                                                                  : ~std::uint64_t{0} << (s % 64);
        return k;
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
    friend auto operator<=>(const StateKey &, const StateKey &) = default;
    friend bool operator==(const StateKey &, const StateKey &) = default;

    bool meets(const StateKey &y) const {
        std::uint64_t any = 0;
        for (std::size_t w = 0; w < Words; ++w) any |= word[w] & y.word[w];
        return any != 0;
    }
    bool holds(const StateKey &y) const {
        std::uint64_t missing = 0;
        for (std::size_t w = 0; w < Words; ++w) missing |= y.word[w] & ~word[w];
        return missing == 0;
    }
};

} // namespace libperm
