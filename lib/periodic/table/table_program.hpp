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

#include "lib/periodic/period/period_program.hpp"

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

} // namespace libperm
