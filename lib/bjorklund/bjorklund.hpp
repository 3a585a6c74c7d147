// Engine `bjorklund`: hafnians and loop hafnians of dense graphs, by sums over signs of pairs of lines
// (jit/lanes/hafnian_sum.hpp); of few lines by the definition.
#pragma once

#include "lib/bjorklund/plan.hpp"
#include "lib/bjorklund/sums.hpp"
#include "lib/run/engine_input.hpp"

#include <optional>

namespace libperm {

// In doubles, complex numbers, dd and residues modulo primes below 2^47. Progress is counted in
// multiply-adds, those of all matrices of residues.
EngineResult run_bjorklund(const BjorklundPlan &plan, const EngineInput &input, SignDevices where = {});
// The chosen candidate; on the processor, too, where a GPU fails that is not named.
EngineResult run_bjorklund(const EngineRun &run, const EngineInput &input);

// Straight from a graph's doubles, with the engine's bits: in doubles or complex numbers, or (dd) in twice
// their precision, then rounded. None where something is not finite.
std::optional<DoublesHafnian> hafnian_of_doubles(const BjorklundPlan &plan, const DoublesGraph &graph,
                                                 bool dd);

} // namespace libperm
