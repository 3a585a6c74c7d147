// One block computed by the engine that its plan chose.
#pragma once

#include "lib/block_plan.hpp"
#include "lib/memory_budget.hpp"
#include "lib/outcome.hpp"
#include "lib/run_control.hpp"
#include "preprocess/block.hpp"

#include <functional>

namespace libperm {

class GpuQueue;

struct BlockRun {
    const BlockPlan &plan; // not refused
    const Options &options;
    RunControl &control;
    MemoryBudget &memory;
};

// Throws Error. Of a Block the permanent and its bound; of an ExactBlock outcome.wide, in the plan's numbers.
Outcome run_block(const BlockRun &run, Block block);
Outcome run_block(const BlockRun &run, const ExactBlock &block);

// With what the queue compiled on the way.
Outcome compiled_by(const GpuQueue &queue, Outcome outcome);

// `work` with what the GPU's side throws as an Error.
Outcome with_gpu_errors(const std::function<Outcome()> &work);

} // namespace libperm
