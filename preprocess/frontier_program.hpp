// A frontier order turned into steps that an engine can run: which bits of the state count the used columns
// of each kind, when a kind opens and when it closes, and how many states there will be.
#pragma once

#include "preprocess/frontier_order.hpp"
#include "preprocess/frontier_side.hpp"

namespace libperm {

struct FrontierTerm {
    std::int64_t entry;        // of A's value array, also when the steps run over A^T
    std::int32_t slot;         // the lowest bit of the counter that says how many of the columns are used
    std::int32_t width;        // of the counter, in bits; it lies inside one 64-bit word
    std::int32_t multiplicity; // equal columns
    std::int32_t least;        // of them to be used after the row: those to come have no room for the rest
    bool opens, closes;        // first, last row with this column
};

struct FrontierStep {
    std::vector<FrontierTerm> terms; // by slot, ascending
    std::int32_t used_before = 0;    // open columns used in every state, before and after the row
    std::int32_t used_after = 0;
    std::int32_t width_before = 0; // open columns, all of a kind, before and after
    std::int32_t width_after = 0;
    double states_bound = 1;     // after the row, at most
    double expansions_bound = 1; // pairs (state, entry) of the row, at most
    double reachable = 1;        // estimated share of the bounds that is really met
    std::int32_t row = 0;        // of A, or of A^T
};

struct FrontierProgram {
    bool transposed = false;
    bool counts = false;    // some counter is wider than a bit: not for the dense form
    std::int32_t slots = 0; // bits of the widest state, the row in process included
    std::vector<FrontierStep> steps;
};

std::int64_t bytes_of(const FrontierProgram &program);

// `side` is the one of the order, or the same without merging any columns.
FrontierProgram build_frontier_program(const FrontierSide &side, const FrontierOrder &order,
                                       const Poll &poll = no_poll);

// Fills FrontierStep::reachable: random subsets of the open columns are tested for whether the processed rows
// can be matched to them and the closed columns, `samples` times at each step that matters.
void estimate_reachable(FrontierProgram &program, const FrontierSide &side, const FrontierOrder &order,
                        int samples, const Poll &poll = no_poll);

} // namespace libperm
