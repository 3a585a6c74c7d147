// Engine `hermite`: hafnians of lines that repeat, over how many lines of each kind are matched
// (lib/hermite/hermite.cpp has the recurrence).
#pragma once

#include "lib/hermite/plan.hpp"
#include "lib/run/engine_input.hpp"

namespace libperm {

// In all kinds of numbers that there are. Lines that the plan takes for equal have equal values; a Block is
// scaled, and of an exact one `scaled` says whether it is to be. The bits are those of any number of threads.
// Progress is counted in multiply-adds, those of one matrix for any number of residues.
EngineResult run_hermite(const HermitePlan &plan, const EngineInput &input, bool scaled = true);
EngineResult run_hermite(const EngineRun &run, const EngineInput &input); // the chosen candidate

// Straight from a graph's values, in doubles or complex numbers.
DoublesHafnian hafnian_of_doubles(const HermitePlan &plan, const DoublesGraph &graph);

} // namespace libperm
