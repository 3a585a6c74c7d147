// Engines `tree`, `shared`, `dense`, `purereg`, `hybrid`: Nijenhuis and Wilf's sum by a kernel.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/run/call.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/engine_run.hpp"
#include "lib/subsets/plan.hpp"

#include <optional>

namespace libperm {

// What shares the work: the result has the same bits whichever they are, but for plans with equal chunks.
struct SubsetDevices {
    std::optional<DeviceQueues> gpus;
    bool cpu = false;   // of engine tree alone
    double seconds = 0; // that all of it is predicted to take
};

// In the plan's arithmetic. Progress is counted in subsets. Throws Error, JitError.
EngineResult run_subset_sum(const SubsetPlan &plan, const EngineInput &input, const SubsetDevices &devices);

// The chosen candidate.
EngineResult run_subsets(const EngineRun &run, const EngineInput &input);

} // namespace libperm
