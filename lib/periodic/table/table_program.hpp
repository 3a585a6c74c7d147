// A period's rows for one table that is changed in place, where the operator is too large to be written out
// (docs/periodic.md).
//
// As many slots as columns are ever open at a time. A slot's bit is set where its column is used, and also
// while it has none: so a row, which uses one column and with which one opens, keeps the number of set bits,
// and the table keeps its shape for ever. A column is opened with a row before the first that needs it, such
// that it is always exactly one. With p the slot of the one that opens, before it empty or of a column that
// the same row closes,
//
//     y[S] = a_opened x[S]                                        p in S
//     y[S] = a_kept x[S] + sum over j in S of a_j x[S - j + p]    p not in S
//
// where a_kept is the row's entry in the column that had p before. Sets without p take from themselves and
// from sets with p, and these from themselves alone: first the former are computed, then the latter, in
// place.
#pragma once

#include "jit/kernel/period_table.hpp"
#include "lib/periodic/period/period_program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

struct TableStep {
    std::int32_t slot = 0;               // p
    std::int32_t opened = -1, kept = -1; // entries; -1: none
    std::vector<PeriodTerm> terms;       // of the other columns
    // No row: the column that had p has closed with the row before and none opens, so sets without p are
    // cleared, and those with p stay.
    bool clears = false;
};

struct TableProgram {
    std::int32_t slots = 0, used = 0; // used: set bits of open ends' states
    std::int32_t periods = 1;         // until the slots are those of the first again
    std::vector<TableStep> steps;     // of all these periods
    std::vector<std::size_t> begin;   // of each period's steps, and their end
    // Before each period, with open ends: what is used where all before is and nothing behind. The permanent
    // of m cells is what m periods make of the first, at that of period m.
    std::vector<std::uint64_t> ends;
    double moves = 0; // of one period

    std::span<const TableStep> steps_of(std::size_t u) const {
        return std::span(steps).subspan(begin[u], begin[u + 1] - begin[u]);
    }
    double states(std::int32_t of_used) const; // C(slots, of_used)
    // Of the largest table that is asked for: of joined ends there is one for each number of used slots.
    std::int32_t most_used(bool joined) const { return joined ? slots / 2 : used; }
};

constexpr std::int32_t most_table_slots = 40;

// `program` has no shifts; the matrix is as it is computed, without head and tail. None where no row may open
// a column each, or the slots take too long to come round.
std::optional<TableProgram> table_program(const PeriodicMatrix &a, const PeriodProgram &program);

// Where the numbers of a period's states lie in its one table, and which take from which.
//
// States are the sets of one size of the slots, ranked: a block for each set of high slots, which holds the
// sets of low slots that complete the size, ascending; blocks with equally many high slots side by side, in
// ascending order. So both kinds of sets are ranked as combinations are (Knuth, TAOCP 4A, 7.2.1.3), as in the
// dense frontier's tables (lib/frontier/dense_layout.hpp).

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
