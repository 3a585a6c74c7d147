// The operator of one period, written out as the factors that its rows are, with the way from the first row
// to the first whole step and from the last whole step to the end (docs/periodic.md).
#pragma once

#include "lib/periodic/period/period_writer.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Maps of a block's states, each its own inverse, that commute; T D = (the product of the maps in twist) D T.
struct StateSymmetries {
    std::vector<std::vector<std::uint32_t>> image; // by map, by state
    std::vector<std::uint32_t> twist;              // by map: a bit for each map before it
};

// Leads from the states at a cut to the same at the next.
struct PeriodBlock {
    PeriodLevels levels;
    std::size_t states = 0;
    // Of joined ends: states whose loops are counted, each for so many like it, which may lie in other
    // blocks.
    struct Start {
        std::uint32_t state, like_it;
    };
    std::vector<Start> starts, even_starts; // for any length; for even ones, alone
    const std::vector<Start> &starts_of(std::int64_t first, std::int64_t count) const {
        return count == 1 && first % 2 == 0 ? even_starts : starts;
    }
    // Of joined ends: so many blocks have the same trace, and count with this one; 0: with another.
    std::uint32_t alike = 1;
    StateSymmetries symmetries;
};

struct OpenOperator {
    PeriodLevels start, finish; // from one state to those at the first cut; from those at the last one to one
    PeriodBlock period;
    std::int64_t least = 0; // cells of `start` and `finish`; the period stands for those beyond
};

// The values by the moves' entries: the cell's, the head's, the tail's, and 1.
std::vector<Gaussian> values_of_moves(const PeriodicMatrix &a);

// Of open ends. Only states that lie on a way from end to end; where there is none, none. `account` holds
// what is written; it may throw, and so may polling.
OpenOperator write_operator(const PeriodicMatrix &a, const PeriodProgram &program, MemoryAccount *account);

// The strongly connected components of an operator, those with a loop.
std::vector<PeriodBlock> loops_of(const PeriodLevels &levels);

// Of joined ends, all starts: the strongly connected components of the operator's graph, for from no other
// state a way leads back to where it began. The permanent is the sum of their traces. States that a symmetry
// of the cell makes of each other have as many loops: one of them is a start.
std::vector<PeriodBlock> write_loops(const PeriodicMatrix &a, const PeriodProgram &program,
                                     MemoryAccount *account);

// States from which the same leads to the end, in every number of steps, are one state: what is summed over
// them is all that counts (ordinary lumpability; Kemeny and Snell, Finite Markov Chains, 1960, section 6.3).
// Symmetries of a cell make such states, and so does chance.
// `values`: of the moves' entries. Equal values are equal moves.
void lump(OpenOperator &op, const std::vector<Gaussian> &values);

// Writes the levels of open ends and a few cells, from one state to one.
PeriodLevels write_few(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t length,
                       MemoryAccount *account);

} // namespace libperm
