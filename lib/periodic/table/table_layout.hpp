// Where the numbers of a period's states lie in its one table (table_program.hpp), and which take from which.
//
// States are the sets of one size of the slots, ranked: a block for each set of high slots, which holds the
// sets of low slots that complete the size, ascending; blocks with equally many high slots side by side, in
// ascending order. So both kinds of sets are ranked as combinations are (Knuth, TAOCP 4A, 7.2.1.3), as in the
// dense frontier's tables (lib/frontier/dense_row.hpp).
#pragma once

#include "jit/kernel/period_table.hpp"
#include "lib/periodic/table/table_program.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libperm {

struct TableLayout {
    int low = 0, high = 0, used = 0;                 // slots; bits of a state
    std::array<std::uint32_t, table_low + 1> sets{}; // low sets of each size
    std::array<std::uint64_t, table_high + 2>
        begin{};                         // of the blocks with so many high slots, and the table's end
    std::vector<std::uint16_t> low_rank; // of a low set among those of its size
    std::vector<std::uint32_t> ranks;    // of high sets: combination_ranks(high)

    TableLayout(std::int32_t slots, std::int32_t used);

    std::uint64_t size() const { return begin.back(); }
    bool has_block(std::uint32_t high_set) const;
    std::uint64_t block(std::uint32_t high_set) const; // of one that there is
    std::uint64_t place(std::uint64_t set) const;
};

// Of a row: the sets without p that take, by blocks' numbers, and where in a block they take from.
struct TableLists {
    // The high set of a block's number: of its lower table_chunk bits, then of the upper ones. The row's own
    // slots are the lowest bits, so that blocks with common sources follow each other.
    int number_bits = 0;
    std::vector<std::uint32_t> high_sets;
    std::uint32_t pivot_high = 0; // p, if it is high
    bool pivot_low = false;
    // Low sets without p, by size: their places, those of the same with p if that is low, and for each low
    // entry of the sets that they take from, table_no_place where there is none; list_size each.
    std::array<std::uint32_t, table_low + 2> list_begin{};
    std::vector<std::uint16_t> places;
    std::vector<std::uint32_t> high_bits;                // of each high entry
    std::vector<std::int32_t> low_entries, high_entries; // entries, in the order in which they are added up

    TableLists(const TableLayout &layout, const TableStep &step);

    std::uint32_t list_size() const { return list_begin.back(); }
    std::uint32_t high_set(std::uint64_t number) const {
        constexpr std::uint64_t chunk = std::uint64_t{1} << table_chunk;
        const std::uint32_t lower = high_sets[number & (chunk - 1)];
        return number_bits > table_chunk ? lower | high_sets[chunk + (number >> table_chunk)] : lower;
    }
};

} // namespace libperm
