#include "lib/frontier/on_device.hpp"

#include "jit/compile/digest.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/machine.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace libperm {
namespace {

double work_of(const FrontierProgram &program) {
    double work = 0;
    for (const FrontierStep &step : program.steps) work += step.expansions_bound + step.states_bound;
    return work;
}

// Cuts slices that fit what is free now.
std::vector<FrontierSlice> smaller_slices(const DeviceQueues &devices, const FrontierRun &run) {
    SliceSearch search;
    search.most_bytes = std::numeric_limits<double>::infinity();
    for (DeviceQueue *queue : devices.all())
        search.most_bytes =
            std::min(search.most_bytes, usable_of_gpu * static_cast<double>(queue->free_bytes()));
    search.needs = [&](const FrontierProgram &slice) -> SliceNeeds {
        return {work_of(slice), dense_device_bytes(slice, run.input.states())};
    };
    return find_slices(run.program, search);
}

// The attempt in these slices, which follow from what memory was free: neither a first one nor a whole block.
std::uint32_t attempt_in(const std::vector<FrontierSlice> &slices) {
    const std::string digest = digest_of_bytes(written(slices));
    return 0x80000000 |
           (static_cast<std::uint32_t>(std::stoul(digest.substr(0, 8), nullptr, 16)) & 0x7ffffffe);
}

} // namespace

EngineResult run_dense_frontier_on(const DeviceQueues &devices, const FrontierRun &run,
                                   const std::vector<FrontierSlice> &slices) {
    const SliceWorkers workers{[&] { return devices.count(); },
                               [&](std::size_t k, const FrontierProgram &program) {
                                   return run_dense_slice_on(devices[k], run.of(program), run.program);
                               }};
    try {
        return run_in_slices(run, slices, workers);
    } catch (const JitError &error) {
        if (error.failure() != JitFailure::out_of_memory) throw;
        const std::vector<FrontierSlice> smaller = smaller_slices(devices, run);
        if (smaller.empty()) throw;
        log_decision(formatted("engine frontier: {}; in {} slices now", error.what(), smaller.size()));
        PieceScope scope = call().pieces();
        scope.task.attempt = attempt_in(smaller);
        CurrentCall again(1, scope);
        return run_in_slices(run, smaller, workers);
    }
}

} // namespace libperm
