// Where the dense frontier keeps its states; rows of the dense frontier as their kernels take them, and
// which kernels these are.
#pragma once

#include "jit/kernel/frontier.hpp"
#include "lib/number/combinations.hpp"
#include "lib/run/memory_budget.hpp"
#include "preprocess/frontier_steps.hpp"

#include <bit>
#include <cstddef>
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

// A row of the dense frontier as its kernel takes it: which block takes from which, and which place in it
// from which (jit/device/frontier_dense.cuh). The tables are as above, but with
// blocks of equally many high slots side by side, so that a block's place follows from its rank and no list
// of all blocks has to be made for every row.

RowShape shape_of(const FrontierStep &step); // of just this row

class DenseRowMaker {
  public:
    // The program's next step, the first high entries of which make the blocks of a cube: so many at most.
    // The addresses and coefficients in row() are left for the caller.
    void advance(const FrontierStep &step, int most_cube);

    const DenseRow &row() const { return row_; }
    const std::vector<DenseHighSet> &high() const { return high_; }
    const std::vector<std::uint16_t> &places() const { return places_; }

  private:
    void describe_tables(const FrontierStep &step);
    void find_places(const FrontierStep &step);
    void find_cubes(const FrontierStep &step, int most_cube);

    SlotSet old_open_ = 0, new_open_ = 0, opening_ = 0, closing_ = 0;
    LowSets old_low_, new_low_;
    DenseRow row_{};
    std::vector<DenseHighSet> high_;
    std::vector<std::uint16_t> places_;
};

// Which kernels the rows of a dense frontier are run with on a GPU: a few for all rows, as compiling one
// takes longer than most runs.

// States: rows of fewer take as long as their launch, and share a kernel.
constexpr double large_row = 1 << 22;

// By row.
std::vector<CubeKernel> cube_kernels(const FrontierProgram &program, const StateNumbers &numbers,
                                     double large = large_row);

// How many there are, without finding out which.
std::size_t count_cube_kernels(const FrontierProgram &program, const StateNumbers &numbers);

} // namespace libperm
