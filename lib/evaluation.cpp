#include "lib/evaluation.hpp"

#include "jit/gpu_queue.hpp"
#include "jit/jit_error.hpp"
#include "lib/error.hpp"
#include "lib/frontier_on_device.hpp"
#include "lib/frontier_slices.hpp"
#include "lib/gpu_device.hpp"
#include "lib/gray.hpp"
#include "lib/log.hpp"
#include "lib/tree.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/parallel.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libperm {
namespace {

constexpr std::size_t most_jobs = 64;       // blocks waiting to be computed
constexpr std::size_t most_tokens = 10000;  // and what to do with their numbers
constexpr double unplanned_bytes = 1 << 20; // that a block of order 30 may take
constexpr double short_job = 0.01;          // seconds: such blocks are computed at the same time
constexpr std::size_t most_known = 1 << 26; // bytes of keys of known numbers

// Explicit zeros, or entries that have become 0, may leave fewer entries than a perfect matching needs.
bool zeros_leave_no_matching(const Block &block) {
    if (std::none_of(block.values.begin(), block.values.end(), [](const Tracked &x) { return is_zero(x); }))
        return false;
    Pattern nonzero;
    nonzero.rows = nonzero.cols = block.n();
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        for (const std::int32_t j : block.pattern.row(i))
            if (!is_zero(block.values[k++])) nonzero.col.push_back(j);
        nonzero.row_ptr.push_back(static_cast<std::int64_t>(nonzero.col.size()));
    }
    return maximum_matching(nonzero).size < block.n();
}

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

const FrontierProgram &program_of(const BlockPlan &plan, const Candidate &choice) {
    return choice.form == FrontierForm::sparse ? plan.sparse : plan.dense;
}

Outcome run_on_gpu(const BlockPlan &plan, const Candidate &choice, const Block &block, const Options &options,
                   RunControl &control, MemoryBudget &memory) {
    try {
        const GpuChoice first = first_gpu();
        if (!first.gpu) throw JitError(JitFailure::unavailable, first.why_not);
        if (choice.engine == Engine::frontier) {
            RunControl part(control, choice.cost.serial_seconds / choice.cost.operations);
            GpuQueue queue(first.gpu, options.cache);
            const FrontierRun run{block, program_of(plan, choice), part, memory, options.threads};
            Outcome outcome = choice.form == FrontierForm::dense
                                  ? run_dense_frontier_on(queue, run, choice.slices)
                                  : run_sparse_frontier_on(queue, run, is_nonnegative(block));
            outcome.seconds_compile = queue.compile_seconds();
            outcome.kernels_compiled = queue.kernels_compiled();
            return outcome;
        }
        RunControl part(control, choice.cost.serial_seconds / choice.cost.subsets);
        return run_gray(plan.gray, choice.transposed ? transposed(block) : block, first.gpu, options.cache,
                        choice.cost.serial_seconds, part);
    } catch (const JitError &error) {
        throw Error(status_of(error.failure()), error.what());
    }
}

Outcome run_engine(const BlockPlan &plan, const Candidate &choice, const Block &block, const Options &options,
                   RunControl &control, MemoryBudget &memory) {
    if (choice.on_gpu) return run_on_gpu(plan, choice, block, options, control, memory);
    if (choice.engine == Engine::tree) {
        RunControl part(control, choice.cost.serial_seconds / choice.cost.subsets);
        return run_tree(plan.gray, choice.transposed ? transposed(block) : block, part);
    }
    if (choice.engine == Engine::ryser) {
        RunControl part(control, choice.cost.serial_seconds / choice.cost.subsets);
        return run_ryser(plan.ryser, choice.transposed ? transposed(block) : block, part);
    }
    RunControl part(control, choice.cost.serial_seconds / choice.cost.operations);
    const auto run = [&](const FrontierProgram &program) {
        return run_frontier(choice.form, {block, program, part, memory, options.threads});
    };
    return choice.slices.empty() ? run(program_of(plan, choice)) : run_slices(plan.dense, choice.slices, run);
}

// The engines with kernels lose digits where terms cancel, and of signed full doubles to their grid. The
// frontier does not lose the first, ryser not the second. Where less is left than was asked for, it is worth
// a minute.
const Candidate *second_choice(const BlockPlan &plan, const Options &options, const Outcome &outcome) {
    if (options.engine != Engine::automatic || !has_kernel(plan.choice()->engine) || outcome.exact ||
        outcome.rel_error_bound <= options.tolerance)
        return nullptr;
    const Engine engine = outcome.grid_matters ? Engine::ryser : Engine::frontier;
    const auto found =
        std::find_if(plan.candidates.begin(), plan.candidates.end(),
                     [engine](const Candidate &c) { return c.engine == engine && is_second(c); });
    return found == plan.candidates.end() ? nullptr : &*found;
}

} // namespace

Outcome Evaluation::run(Block root) {
    DecompositionRule<Tracked> rule = rule_of(plan_);
    rule.passes.merging = plan_.options.passes.merging;
    Decomposition<Tracked> decomposition(std::move(root), std::move(rule));
    for (StepOf<Tracked> step; decomposition.next(step);) {
        control_.poll();
        if (auto *leaf = std::get_if<Leaf>(&step))
            take(std::move(*leaf));
        else if (const auto *number = std::get_if<Tracked>(&step))
            tokens_.emplace_back(ball_of(*number));
        else if (const auto *multiply = std::get_if<Multiply>(&step))
            tokens_.emplace_back(*multiply);
        else
            tokens_.emplace_back(std::get<Add>(step));
        if (jobs_.size() == most_jobs || tokens_.size() >= most_tokens) compute_jobs();
    }
    compute_jobs();
    set_value(sums_, stack_.back());
    sums_.peak_bytes = std::max(sums_.peak_bytes, memory_.peak()); // on a GPU, or here
    return sums_;
}

void Evaluation::take(Leaf leaf) {
    ++sums_.blocks;
    BlockKey key;
    if (plan_.blocks != 1) {
        key = key_of(leaf);
        if (const auto known = known_.find(key); known != known_.end()) {
            tokens_.emplace_back(known->second);
            return;
        }
        if (const auto waiting = job_of_.find(key); waiting != job_of_.end()) {
            tokens_.emplace_back(ResultOf{waiting->second});
            return;
        }
        job_of_.emplace(key, jobs_.size());
    }
    ++sums_.blocks_computed;
    tokens_.emplace_back(ResultOf{jobs_.size()});
    const auto planned = plan_.block_plans.find(key_of(leaf.block.pattern, leaf.kinds));
    jobs_.push_back({std::move(leaf),
                     std::move(key),
                     planned == plan_.block_plans.end() ? nullptr : &planned->second,
                     {}});
}

void Evaluation::compute_jobs() {
    std::vector<Job *> together, alone;
    double room = static_cast<double>(plan_.options.memory_limit); // one block alone may take it all
    for (Job &job : jobs_) {
        const bool is_short = job.plan ? job.plan->best().cost.serial_seconds < short_job
                                       : job.leaf.block.n() <= paper_order; // planning takes a millisecond
        const double bytes = job.plan ? job.plan->best().cost.bytes : unplanned_bytes;
        const bool fits = is_short && 2 * bytes < room;
        if (fits) room -= 2 * bytes;
        (fits ? together : alone).push_back(&job);
    }
    if (together.size() == 1) {
        alone.push_back(together.front());
        together.clear();
    }
    parallel_for(together.size(), [&](std::size_t k) { compute(*together[k]); });
    for (Job *job : alone) compute(*job);
    fold();
}

void Evaluation::compute(Job &job) {
    Block &block = job.leaf.block;
    if (zeros_leave_no_matching(block)) return; // the outcome is 0, exactly
    BlockPlan made;
    if (!job.plan)
        made = plan_block(block.pattern, job.leaf.kinds, plan_.nonnegative, plan_.options, control_);
    const BlockPlan &plan = job.plan ? *job.plan : made;
    if (plan.refusal != PERM_OK) throw Error(plan.refusal, plan.refusal_text);
    const std::int64_t exp2 = plan_.options.passes.scaling ? scale(block) : 0;
    const Candidate *choice = plan.choice();
    job.outcome = run_engine(plan, *choice, block, plan_.options, control_, memory_);
    if (const Candidate *second = second_choice(plan, plan_.options, job.outcome))
        choice = try_second(plan, *second, block, job.outcome);
    if (!std::isfinite(job.outcome.value.mantissa))
        throw Error(
            PERM_UNSUPPORTED,
            plan_.options.passes.scaling
                ? "an intermediate result overflowed: the entries are too many orders of magnitude apart"
                : "an intermediate result overflowed: leave the pass \"scaling\" on");
    for (Scaled *x : {&job.outcome.value, &job.outcome.error})
        if (x->mantissa != 0) x->exp2 -= exp2;
    job.outcome.engine = choice->engine;
    job.outcome.transposed = choice->transposed;
    job.outcome.predicted_seconds = choice->cost.serial_seconds;
}

// Returns what gave the outcome in the end: the first one stands if there is no time for a second.
const Candidate *Evaluation::try_second(const BlockPlan &plan, const Candidate &choice, const Block &block,
                                        Outcome &outcome) {
    log_decision(fmt::format("{}: its error bound {:.1e} is above the tolerance, so {} again",
                             name_of(*plan.choice()), outcome.rel_error_bound, name_of(choice)));
    try {
        Outcome second = run_engine(plan, choice, block, plan_.options, control_, memory_);
        if (second.rel_error_bound >= outcome.rel_error_bound) return plan.choice();
        second.seconds_compile = outcome.seconds_compile;
        second.kernels_compiled = outcome.kernels_compiled;
        outcome = second;
        return &choice;
    } catch (const Error &error) {
        constexpr perm_status expected[] = {PERM_REFUSED_TIME, PERM_REFUSED_MEMORY, PERM_OUT_OF_MEMORY,
                                            PERM_GPU_FAILED, PERM_UNSUPPORTED};
        if (std::find(std::begin(expected), std::end(expected), error.status()) == std::end(expected)) throw;
        return plan.choice();
    }
}

// Puts the waiting tokens together as far as they go, and forgets the jobs.
void Evaluation::fold() {
    for (const Job &job : jobs_) {
        sums_.subsets += job.outcome.subsets;
        sums_.states += job.outcome.states;
        sums_.peak_bytes = std::max(sums_.peak_bytes, job.outcome.peak_bytes);
        sums_.seconds_compile += job.outcome.seconds_compile;
        sums_.kernels_compiled += job.outcome.kernels_compiled;
        sums_.slices += job.outcome.slices;
        sums_.operations += job.outcome.operations;
        sums_.peak_states = std::max(sums_.peak_states, job.outcome.peak_states);
        if (job.outcome.predicted_seconds > sums_.predicted_seconds) {
            sums_.predicted_seconds = job.outcome.predicted_seconds;
            sums_.engine = job.outcome.engine;
            sums_.transposed = job.outcome.transposed;
            sums_.on_gpu = job.outcome.on_gpu;
        }
    }
    const auto combine = [this](std::size_t count, const auto &operation) {
        Ball result = stack_[stack_.size() - count];
        for (std::size_t k = stack_.size() - count + 1; k < stack_.size(); ++k)
            result = operation(result, stack_[k]);
        stack_.resize(stack_.size() - count);
        stack_.push_back(result);
    };
    for (const Token &token : tokens_) {
        if (const auto *ball = std::get_if<Ball>(&token))
            stack_.push_back(*ball);
        else if (const auto *result = std::get_if<ResultOf>(&token))
            stack_.push_back({jobs_[result->job].outcome.value, jobs_[result->job].outcome.error});
        else if (const auto *multiply = std::get_if<Multiply>(&token))
            combine(multiply->count, [](const Ball &x, const Ball &y) { return x * y; });
        else
            combine(std::get<Add>(token).count, [](const Ball &x, const Ball &y) { return x + y; });
    }
    for (Job &job : jobs_) {
        if (job.key.empty() || known_bytes_ + job.key.size() > most_known) continue;
        known_bytes_ += job.key.size();
        known_.emplace(std::move(job.key), Ball{job.outcome.value, job.outcome.error});
    }
    tokens_.clear();
    jobs_.clear();
    job_of_.clear();
}

} // namespace libperm
