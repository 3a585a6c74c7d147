// One block computed by the engine that its plan chose.
#pragma once

#include "lib/frontier/on_device.hpp"
#include "lib/plan/block_plan.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/ryser.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "preprocess/block.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace libperm {

class GpuQueue;

struct BlockRun {
    const BlockPlan &plan; // not refused
    const Options &options;
    RunControl &control;
    MemoryBudget &memory;
    PieceScope pieces;

    PieceScope attempt(std::uint32_t number) const {
        PieceScope scope = pieces;
        scope.task.attempt = number;
        return scope;
    }
};

// Throws Error. Of a Block the permanent and its bound; of an ExactBlock outcome.wide, in the plan's numbers.
Outcome run_block(const BlockRun &run, Block block);
Outcome run_block(const BlockRun &run, const ExactBlock &block);

// A queue for each GPU that the options name, opened when the first is asked for, by one thread.
class GpuQueues {
  public:
    explicit GpuQueues(const Options &options);
    ~GpuQueues();
    DeviceQueue &first() { return *all().front(); }
    DeviceQueues when_needed() {
        return DeviceQueues([this] { return all(); });
    }
    Outcome counted(Outcome outcome) const; // with what was compiled on the way

  private:
    std::vector<DeviceQueue *> all();

    const Options &options_;
    std::vector<std::unique_ptr<GpuQueue>> queues_;
};

// What computes the chosen candidate of an engine with a kernel.
GrayDevices gray_devices(const BlockRun &run, const Candidate &choice, GpuQueues &gpus);

// `work` with what the GPU's side throws as an Error.
Outcome with_gpu_errors(const std::function<Outcome()> &work);

} // namespace libperm
