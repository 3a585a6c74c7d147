// Where the dense frontier keeps the states of one step: the subsets of weight k of the open slots, ranked.
//
// The slots are cut into low and high ones. The table is a row of blocks, one for each subset h of the high
// slots in ascending order; a block holds the subsets of weight k - |h| of the low slots, ascending. Inside a
// block everything is known by small index lists; between blocks of the same low weight, states line up.
#pragma once

#include "lib/number/combinations.hpp"
#include "lib/run/memory_budget.hpp"
#include "preprocess/slot_names.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace libperm {

using SlotSet = std::uint64_t;

constexpr SlotSet low_mask = (SlotSet{1} << low_slots) - 1;

// How many numbers there are after a step.
inline double dense_states(const FrontierStep &step) {
    return subsets_of_size(step.width_after, step.used_after);
}

// Bits of x at the places of mask, packed together, and back.
inline SlotSet pack_bits(SlotSet x, SlotSet mask) {
    SlotSet packed = 0;
    for (int place = 0; mask != 0; mask &= mask - 1, ++place)
        packed |= (x >> std::countr_zero(mask) & 1) << place;
    return packed;
}
inline SlotSet spread_bits(SlotSet packed, SlotSet mask) {
    SlotSet x = 0;
    for (; mask != 0; mask &= mask - 1, packed >>= 1)
        if (packed & 1) x |= mask & (~mask + 1);
    return x;
}

// The subsets of the open low slots.
struct LowSets {
    SlotSet open = 0;
    std::vector<std::vector<SlotSet>> of_weight; // ascending
    std::vector<std::uint16_t> rank;             // of a set among those of its weight; by the set itself

    LowSets() { assign(0); }
    void assign(SlotSet slots) {
        if (slots == open && !of_weight.empty()) return;
        open = slots;
        of_weight.assign(static_cast<std::size_t>(std::popcount(slots)) + 1, {});
        rank.resize(std::size_t{1} << low_slots);
        SlotSet set = 0;
        do {
            auto &sets = of_weight[static_cast<std::size_t>(std::popcount(set))];
            rank[set] = static_cast<std::uint16_t>(sets.size());
            sets.push_back(set);
            set = (set - slots) & slots; // the next one
        } while (set != 0);
    }
};

struct FrontierLayout {
    LowSets low;
    SlotSet high = 0;            // open slots
    int weight = 0;              // slots used in every state
    Buffer<std::int64_t> offset; // of a high set's block; by the packed set; one more at the end

    explicit FrontierLayout(MemoryBudget &memory) : offset(memory) { assign(0, 0); }

    void assign(SlotSet open, int used);

    std::int64_t high_sets() const { return std::int64_t{1} << std::popcount(high); }
    std::int64_t begin(std::int64_t block) const { return offset.data()[block]; }
    std::int64_t size() const { return begin(high_sets()); }
};

inline void FrontierLayout::assign(SlotSet open, int used) {
    low.assign(open & low_mask);
    high = open & ~low_mask;
    weight = used;
    offset.grow(static_cast<std::size_t>(high_sets()) + 1);
    std::int64_t *begins = offset.data();
    begins[0] = 0;
    for (std::int64_t h = 0; h < high_sets(); ++h) {
        const int rest = weight - std::popcount(static_cast<SlotSet>(h));
        const bool exists = rest >= 0 && static_cast<std::size_t>(rest) < low.of_weight.size();
        const std::size_t states = exists ? low.of_weight[static_cast<std::size_t>(rest)].size() : 0;
        begins[h + 1] = begins[h] + static_cast<std::int64_t>(states);
    }
}

} // namespace libperm
