// Makes a program of a frontier order.
#pragma once

#include "preprocess/frontier_order.hpp"
#include "preprocess/frontier_side.hpp"
#include "preprocess/frontier_steps.hpp"

namespace libperm {

std::int64_t bytes_of(const FrontierProgram &program);

// `side` is the one of the order, or the same without merging any columns.
FrontierProgram build_frontier_program(const FrontierSide &side, const FrontierOrder &order);

// Fills FrontierStep::reachable: random subsets of the open columns are tested for whether the processed rows
// can be matched to them and the closed columns, `samples` times at each step that matters.
void estimate_reachable(FrontierProgram &program, const FrontierSide &side, const FrontierOrder &order,
                        int samples);

} // namespace libperm
