// Runs a tape on a CPU, forwards for permanents and backwards for their derivatives: for eight matrices side
// by side, or for one.
#pragma once

#include "jit/arithmetic.hpp"
#include "jit/tape.hpp"

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
        return static_cast<std::size_t>((parts_of(arithmetic) + (magnitudes ? 1 : 0)) * lanes);
    }
};

// `entries`: a block each; they and `states` on boundaries of 64 bytes. `keep`: all states get a block of
// `states`; else those of two rows, which take turns. Returns the last one's block, or null if there is none.
// The same bits on every processor, and for a matrix whatever stands beside it.
const double *run_tape(const Tape &tape, TapeLayout layout, const double *entries, double *states, bool keep);

// From `states` as they were kept: `slopes`, with a block for each state, becomes the derivatives of the last
// state by each, `gradient`, with one for each entry, those by the entries.
void run_tape_back(const Tape &tape, TapeLayout layout, const double *entries, const double *states,
                   double *slopes, double *gradient);

} // namespace libperm
