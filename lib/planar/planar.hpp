// Engine `planar`: the permanent of a block that is planar, or nearly so, as determinants, and the hafnian of
// a planar graph as a Pfaffian.
#pragma once

#include "lib/run/engine_run.hpp"

namespace libperm {

// Of residues, or of a block in balls. Progress is counted in products.
EngineResult run_planar(const EngineRun &run, const EngineInput &input);

} // namespace libperm
