// Hafnians of graphs of doubles straight from their values, by engine `bjorklund`'s sums.
#pragma once

#include "lib/bjorklund/plan.hpp"
#include "lib/run/doubles_graph.hpp"
#include "lib/run/run_control.hpp"

#include <optional>

namespace libperm {

// With the engine's bits: in doubles or complex numbers, or (dd) in twice their precision, then rounded. None
// where something is not finite.
std::optional<DoublesHafnian> hafnian_of_doubles(const BjorklundPlan &plan, const DoublesGraph &graph,
                                                 bool dd, RunControl &control);

} // namespace libperm
