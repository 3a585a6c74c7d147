// A frontier order turned into steps that an engine can run: which slot of the state each column takes, when
// it opens and when it closes, and how many states there will be.
#pragma once

#include "preprocess/frontier_order.hpp"
#include "preprocess/pattern.hpp"

namespace libperm {

struct FrontierTerm {
    std::int64_t entry; // of A's value array, also when the steps run over A^T
    std::int32_t slot;  // of the column: the bit of the state that says whether it is used
    bool opens, closes; // first, last row with this column
};

struct FrontierStep {
    std::vector<FrontierTerm> terms;
    std::int32_t used_before =
        0; // columns used in every state, before and after the row; closed ones not counted
    std::int32_t used_after = 0;
    std::int32_t width_before = 0; // open columns before and after
    std::int32_t width_after = 0;
    double states_bound = 1;     // after the row, at most
    double expansions_bound = 1; // pairs (state, entry) of the row, at most
    double reachable = 1;        // estimated share of the bounds that is really met
};

struct FrontierProgram {
    bool transposed = false;
    std::int32_t slots = 0; // the widest state, the row in process included
    std::vector<FrontierStep> steps;
};

FrontierProgram build_frontier_program(const Pattern &a, const Transposed &at, const FrontierOrder &order);

// Fills FrontierStep::reachable: random subsets of the open columns are tested for whether the processed rows
// can be matched to them and the closed columns, `samples` times at each step that matters.
void estimate_reachable(FrontierProgram &program, const Pattern &a, const FrontierOrder &order, int samples);

} // namespace libperm
