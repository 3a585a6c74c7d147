// Runs a tape on a CPU, forwards for permanents and backwards for their derivatives: for eight matrices side
// by side, or for one.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/program/tape.hpp"

#include <cstddef>

namespace libperm {

constexpr int tape_lanes = 8;

// Numbers lie in blocks: for each part of a number `lanes` doubles, then as many for the magnitudes, which
// are moved along as the numbers are, but all positive: what an error bound is made of. Numbers that are
// their own magnitudes have none beside them.
struct TapeLayout {
    Arithmetic arithmetic = Arithmetic::real; // not modular
    bool magnitudes = true;
    int lanes = 1; // or tape_lanes

    std::size_t block() const {
        return static_cast<std::size_t>(parts_of(arithmetic) + (magnitudes ? 1 : 0)) *
               static_cast<std::size_t>(lanes);
    }
};

// Of a path. `entries`: a block each; they and `states`, two lists that take turns, on boundaries of 64
// bytes. Returns the last state's block, or null if there is none. The same bits on every processor, and for
// a matrix whatever stands beside it.
const double *run_tape(const Tape &tape, TapeLayout layout, const double *entries, double *states);

// States first to last - 1 of a list, counted in it.
struct TapeRange {
    std::int32_t list;
    std::uint32_t first, last;
};

// The states of a range, of a list with moves; `before`, `after`: the blocks of the list before and of this
// one. For a join `entries` are the blocks of the other list.
void run_tape_list(const Tape &tape, TapeLayout layout, TapeRange range, const double *entries,
                   const double *before, double *after);

// The last state's derivatives by the states of the list after, and by those of this one.
struct TapeSlopes {
    const double *after;
    double *here;
};

// From the slopes after: those by the states of the range, and what the moves from these add to those by the
// entries, `gradient`, or by the other list's states. `way_back` is the tape with the moves from each state
// instead of those to it: their sources are states of the list after.
void run_tape_list_back(const Tape &way_back, TapeLayout layout, TapeRange range, const double *entries,
                        const double *states, TapeSlopes slopes, double *gradient);

} // namespace libperm
