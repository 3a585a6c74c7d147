#include "lib/block_run.hpp"

#include "jit/gpu_queue.hpp"
#include "jit/jit_error.hpp"
#include "lib/error.hpp"
#include "lib/frontier_on_device.hpp"
#include "lib/frontier_slices.hpp"
#include "lib/gpu_device.hpp"
#include "lib/gray.hpp"
#include "lib/log.hpp"
#include "lib/tree.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

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

Outcome run_on_gpu(const BlockRun &run, const Candidate &choice, const Block &block) {
    RunControl part(run.control, seconds_per_step(choice));
    if (choice.engine != Engine::frontier)
        return run_gray(run.plan.gray, choice.transposed ? transposed(block) : block, the_gpu(),
                        run.options.cache, choice.cost.serial_seconds, part);
    GpuQueue queue(the_gpu(), run.options.cache);
    const FrontierRun frontier{block, run.plan.program(choice.form), part, run.memory, run.options.threads};
    return compiled_by(queue, choice.form == FrontierForm::dense
                                  ? run_dense_frontier_on(queue, frontier, choice.slices)
                                  : run_sparse_frontier_on(queue, frontier, is_nonnegative(block)));
}

Outcome run_engine(const BlockRun &run, const Candidate &choice, const Block &block) {
    if (choice.on_gpu) return with_gpu_errors([&] { return run_on_gpu(run, choice, block); });
    RunControl part(run.control, seconds_per_step(choice));
    if (choice.engine == Engine::tree)
        return run_tree(run.plan.gray, choice.transposed ? transposed(block) : block, part);
    if (choice.engine == Engine::ryser)
        return run_ryser(run.plan.ryser, choice.transposed ? transposed(block) : block, part);
    const auto frontier = [&](const FrontierProgram &program) {
        return run_frontier(choice.form, {block, program, part, run.memory, run.options.threads});
    };
    return choice.slices.empty() ? frontier(run.plan.program(choice.form))
                                 : run_slices(run.plan.dense, choice.slices, frontier);
}

// The engines with kernels lose digits where terms cancel, and of signed full doubles to their grid. The
// frontier does not lose the first, ryser not the second. Where less is left than was asked for, it is worth
// a minute.
const Candidate *second_choice(const BlockPlan &plan, const Options &options, const Outcome &outcome) {
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
    log_decision(fmt::format("{}: its error bound {:.1e} is above the tolerance, so {} again",
                             name_of(*run.plan.choice()), outcome.rel_error_bound, name_of(choice)));
    const bool is_taken = take_if_better(outcome, [&] {
        Outcome second = run_engine(run, choice, block);
        second.seconds_compile = outcome.seconds_compile;
        second.kernels_compiled = outcome.kernels_compiled;
        return second;
    });
    return is_taken ? &choice : run.plan.choice();
}

} // namespace

Outcome compiled_by(const GpuQueue &queue, Outcome outcome) {
    outcome.seconds_compile = queue.compile_seconds();
    outcome.kernels_compiled = queue.kernels_compiled();
    return outcome;
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
    Outcome outcome = run_engine(run, *choice, block);
    if (const Candidate *second = second_choice(run.plan, run.options, outcome))
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
