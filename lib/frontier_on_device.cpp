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

// That fit what is free now.
template <class Run>
std::vector<FrontierSlice> smaller_slices(DeviceQueue &queue, const Run &run, const StateNumbers &numbers) {
    constexpr double usable = 0.95;
    SliceSearch search;
    search.most_bytes = usable * static_cast<double>(queue.free_bytes());
    search.needs = [&](const FrontierProgram &slice) -> SliceNeeds {
        return {work_of(slice), dense_device_bytes(slice, numbers)};
    };
    search.poll = [&] { run.control.poll(); };
    return find_slices(run.program, search);
}

// compute(slices); where that is too much at once, in smaller ones.
template <class Run, class Compute>
auto compute_in_room(DeviceQueue &queue, const Run &run, const StateNumbers &numbers,
                     const std::vector<FrontierSlice> &slices, const Compute &compute) {
    try {
        return compute(slices);
    } catch (const JitError &error) {
        if (error.failure() != JitFailure::out_of_memory) throw;
        const std::vector<FrontierSlice> smaller = smaller_slices(queue, run, numbers);
        if (smaller.empty()) throw;
        log_decision(fmt::format("engine frontier: {}; in {} slices now", error.what(), smaller.size()));
        return compute(smaller);
    }
}

// `run_one` computes a program.
template <class RunOne>
Outcome run_in_slices(const FrontierProgram &program, const std::vector<FrontierSlice> &slices,
                      const RunOne &run_one) {
    return slices.empty() ? run_one(program) : run_slices(program, slices, run_one);
}

} // namespace

Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run,
                              const std::vector<FrontierSlice> &slices) {
    const bool nonnegative = is_nonnegative(run.input);
    const auto run_one = [&](const FrontierProgram &program) {
        return run_dense_frontier_on(queue, run.of(program), nonnegative, run.program);
    };
    return compute_in_room(queue, run, nonnegative, slices,
                           [&](const auto &some) { return run_in_slices(run.program, some, run_one); });
}

Outcome run_dense_frontier_on(DeviceQueue &queue, const WideFrontierRun &run,
                              const std::vector<FrontierSlice> &slices) {
    const auto run_one = [&](const FrontierProgram &program) {
        return run_dense_slice_on(queue, run.of(program), run.program);
    };
    return compute_in_room(queue, run, {run.input.arithmetic, run.input.nonnegative}, slices,
                           [&](const auto &some) { return run_in_slices(run.program, some, run_one); });
}

std::vector<std::uint64_t> run_dense_frontier_on(DeviceQueue &queue, const ResidueFrontierRun &run,
                                                 const std::vector<FrontierSlice> &slices, Outcome &counts) {
    return compute_in_room(queue, run, Arithmetic::modular, slices, [&](const auto &some) {
        Outcome all;
        const auto run_one = [&](const FrontierProgram &program, Outcome &one) {
            return run_dense_slice_on(queue, run.of(program), run.program, one);
        };
        auto permanents = some.empty() ? run_one(run.program, all)
                                       : run_residue_slices(run.input, run.program, some, run_one, all);
        add_counts(counts, all);
        return permanents;
    });
}

} // namespace libperm
