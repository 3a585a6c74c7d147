// Engine `frontier` as a plan runs it: in its form, in slices or whole, on a CPU or on GPUs.
#pragma once

#include "lib/run/engine_run.hpp"

namespace libperm {

// The chosen candidate. Throws Error, JitError.
EngineResult run_frontier_engine(const EngineRun &run, const EngineInput &input);

} // namespace libperm
