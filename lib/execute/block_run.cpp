#include "lib/execute/block_run.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/slices.hpp"
#include "lib/input/options.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

perm_status status_of(JitFailure failure) {
    switch (failure) {
    case JitFailure::unavailable:
        return PERM_UNSUPPORTED;
    case JitFailure::out_of_memory:
        return PERM_OUT_OF_MEMORY;
    default:
        return PERM_GPU_FAILED;
    }
}

Outcome run_frontier_on_gpu(const BlockRun &run, const Candidate &choice, const FrontierRun &frontier) {
    GpuQueues gpus(run.options);
    return gpus.counted(choice.form == FrontierForm::dense
                            ? run_dense_frontier_on(gpus.when_needed(), frontier, choice.slices)
                            : run_in_slices(frontier.program, {},
                                            {one_worker,
                                             [&](std::size_t, const auto &) {
                                                 return run_sparse_frontier_on(
                                                     gpus.first(), frontier, is_nonnegative(frontier.input));
                                             }},
                                            frontier.control));
}

Outcome run_engine(const BlockRun &run, const Candidate &choice, const Block &block, std::uint32_t attempt) {
    RunControl part(run.control, seconds_per_step(choice), run.attempt(attempt));
    if (choice.engine == Engine::ryser)
        return run_ryser(run.plan.ryser, choice.transposed ? transposed(block) : block, part);
    return with_gpu_errors([&] {
        if (has_kernel(choice.engine))
            return run_gray(run.plan.gray, choice.transposed ? transposed(block) : block,
                            gray_devices(run, choice), part);
        const FrontierRun frontier{block, run.plan.program(choice.form), part, run.memory,
                                   run.options.threads};
        if (choice.on_gpu) return run_frontier_on_gpu(run, choice, frontier);
        return run_in_slices(frontier.program, choice.slices,
                             {one_worker,
                              [&](std::size_t, const auto &program) {
                                  return run_frontier(choice.form, frontier.of(program));
                              }},
                             part);
    });
}

// The engines with kernels lose digits where terms cancel, and of signed full doubles to their grid. The
// frontier does not lose the first, ryser not the second. Where less is left than was asked for, it is worth
// a minute.
const Candidate *second_choice(const BlockRun &run, const Outcome &outcome) {
    if (run.pieces.store && run.pieces.store->is_of_one_shard()) return nullptr; // there is no answer yet
    const BlockPlan &plan = run.plan;
    const Options &options = run.options;
    if (options.engine != Engine::automatic || !has_kernel(plan.choice()->engine) || outcome.exact ||
        outcome.rel_error_bound <= options.tolerance)
        return nullptr;
    const Engine engine = outcome.grid_matters ? Engine::ryser : Engine::frontier;
    const auto found = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                    [engine](const Candidate &c) { return c.engine == engine && c.second; });
    return found == plan.candidates.end() ? nullptr : &*found;
}

// Returns what gave the outcome in the end: the first one stands if there is no time for a second.
const Candidate *try_second(const BlockRun &run, const Candidate &choice, const Block &block,
                            Outcome &outcome) {
    log_decision(formatted("{}: its error bound {:.1e} is above the tolerance, so {} again",
                           name_of(*run.plan.choice()), outcome.rel_error_bound, name_of(choice)));
    const bool is_taken = take_if_better(
        outcome,
        [&] {
            Outcome second = run_engine(run, choice, block, 1);
            second.seconds_compile = outcome.seconds_compile;
            second.kernels_compiled = outcome.kernels_compiled;
            return second;
        },
        run.pieces.store && run.pieces.store->spares_pieces());
    return is_taken ? &choice : run.plan.choice();
}

} // namespace

GpuQueues::GpuQueues(const Options &options) : options_(options) {}

GpuQueues::~GpuQueues() = default;

std::vector<DeviceQueue *> GpuQueues::all() {
    if (queues_.empty())
        for (const auto &gpu : gpus_of(options_))
            queues_.push_back(std::make_unique<GpuQueue>(gpu, options_.cache));
    std::vector<DeviceQueue *> all;
    for (const auto &queue : queues_) all.push_back(queue.get());
    return all;
}

Outcome GpuQueues::counted(Outcome outcome) const {
    outcome.seconds_compile = 0;
    outcome.kernels_compiled = 0;
    for (const auto &queue : queues_) {
        outcome.seconds_compile += queue->compile_seconds();
        outcome.kernels_compiled += queue->kernels_compiled();
    }
    return outcome;
}

GrayDevices gray_devices(const BlockRun &run, const Candidate &choice) {
    GrayDevices devices;
    devices.cpu = !choice.on_gpu || (run.options.cpu_too && choice.engine == Engine::tree);
    if (choice.on_gpu) devices.gpus = [&run] { return gpus_of(run.options); };
    devices.cache = run.options.cache;
    devices.seconds = choice.cost.serial_seconds;
    return devices;
}

Outcome with_gpu_errors(const std::function<Outcome()> &work) {
    try {
        return work();
    } catch (const JitError &error) {
        throw Error(status_of(error.failure()), error.what());
    }
}

Outcome run_block(const BlockRun &run, Block block) {
    const std::int64_t exp2 = run.options.passes.scaling ? scale(block) : 0;
    const Candidate *choice = run.plan.choice();
    Outcome outcome = run_engine(run, *choice, block, 0);
    if (const Candidate *second = second_choice(run, outcome))
        choice = try_second(run, *second, block, outcome);
    if (!std::isfinite(outcome.value.mantissa))
        throw Error(
            PERM_UNSUPPORTED,
            run.options.passes.scaling
                ? "an intermediate result overflowed: the entries are too many orders of magnitude apart"
                : "an intermediate result overflowed: leave the pass \"scaling\" on");
    for (Scaled *x : {&outcome.value, &outcome.error})
        if (x->mantissa != 0) x->exp2 -= exp2;
    outcome.engine = choice->engine;
    outcome.transposed = choice->transposed;
    outcome.predicted_seconds = choice->cost.serial_seconds;
    return outcome;
}

} // namespace libperm
