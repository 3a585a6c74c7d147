// What an engine is given to run with, besides its input.
#pragma once

#include "lib/run/call.hpp"
#include "lib/run/candidate.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/gpu_queues.hpp"
#include "lib/run/memory_budget.hpp"

namespace libperm {

struct Options;

struct EngineRun {
    const Candidate &choice; // with its plan
    const Options &options;
    MemoryBudget &memory;
    GpuQueues &gpus; // opened when they are first asked for
};

} // namespace libperm
