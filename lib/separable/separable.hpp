// Engine `separable`: the permanent of a matrix with low ranks on both sides of its diagonal, of a band or of
// a staircase.
//
// Lines come one by one; those that wait for others are alike but for their kinds, so that only their numbers
// are kept apart (quasi-separable matrices: Eidelman and Gohberg, Integral Equations Operator Theory 34
// (1999)).
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"

namespace libperm {

class Proposals;

void propose_separable(Proposals &task, Engine self);
EngineResult run_separable(const EngineRun &run, const EngineInput &input); // of residues

std::string saved_separable(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_separable(std::string_view bytes, const PlanSource &of);
void check_separable(const Candidate &c);

} // namespace libperm
