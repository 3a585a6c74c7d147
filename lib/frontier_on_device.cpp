#include "lib/frontier_on_device.hpp"

#include "jit/jit_error.hpp"
#include "lib/frontier_slices.hpp"
#include "lib/log.hpp"

#include <fmt/format.h>

namespace libperm {
namespace {

double work_of(const FrontierProgram &program) {
    double work = 0;
    for (const FrontierStep &step : program.steps) work += step.expansions_bound + step.states_bound;
    return work;
}

class SlicedRun {
  public:
    SlicedRun(DeviceQueue &queue, const FrontierRun &run)
        : queue_(queue), run_(run), nonnegative_(is_nonnegative(run.block)) {}

    Outcome operator()(const std::vector<FrontierSlice> &slices) {
        const auto run_one = [this](const FrontierProgram &program) {
            return run_dense_frontier_on(queue_,
                                         {run_.block, program, run_.control, run_.memory, run_.threads},
                                         nonnegative_, run_.program);
        };
        return slices.empty() ? run_one(run_.program) : run_slices(run_.program, slices, run_one);
    }

    // That fit what is free now.
    std::vector<FrontierSlice> smaller_slices() {
        constexpr double usable = 0.95;
        SliceSearch search;
        search.most_bytes = usable * static_cast<double>(queue_.free_bytes());
        search.needs = [this](const FrontierProgram &slice) -> SliceNeeds {
            return {work_of(slice), dense_device_bytes(slice, nonnegative_)};
        };
        search.poll = [this] { run_.control.poll(); };
        return find_slices(run_.program, search);
    }

  private:
    DeviceQueue &queue_;
    const FrontierRun &run_;
    bool nonnegative_;
};

} // namespace

Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run,
                              const std::vector<FrontierSlice> &slices) {
    SlicedRun sliced(queue, run);
    try {
        return sliced(slices);
    } catch (const JitError &error) {
        if (error.failure() != JitFailure::out_of_memory) throw;
        const std::vector<FrontierSlice> smaller = sliced.smaller_slices();
        if (smaller.empty()) throw;
        log_decision(fmt::format("engine frontier: {}; in {} slices now", error.what(), smaller.size()));
        return sliced(smaller);
    }
}

} // namespace libperm
