#include "lib/execute/evaluation.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/unfit_prime.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t most_jobs = 64;             // blocks waiting to be computed
constexpr std::size_t most_tokens = 10000;        // and what to do with their numbers
constexpr double unplanned_bytes = 1 << 20;       // that a block of order 30 may take
constexpr double short_job = 0.01;                // seconds: such blocks are computed at the same time
constexpr std::size_t most_known = 1 << 26;       // bytes of keys of known numbers
constexpr std::int64_t most_key_entries = 100000; // of a block whose number is looked up

} // namespace

template <class Value> Outcome Evaluation<Value>::run(BlockOf<Value> root) {
    DecompositionRule<Value> rule = rule_of<Value>(plan_);
    rule.passes.merging = plan_.options.passes.merging;
    Decomposition<Value> decomposition(std::move(root), std::move(rule));
    walk_blocks(decomposition, *this);
    compute_jobs();
    if (plan_.input.free_lines() > 0) stack_.back() = stack_.back() / ways_of_free_lines(plan_.input);
    set_value(sums_, stack_.back());
    sums_.counts.peak_bytes = std::max(sums_.counts.peak_bytes, call().memory().peak()); // on a GPU, or here
    return sums_;
}

template <class Value> void Evaluation<Value>::push(Token token) {
    tokens_.push_back(std::move(token));
    if (jobs_.size() == most_jobs || tokens_.size() >= most_tokens) compute_jobs();
}

template <class Value> bool Evaluation<Value>::block(Leaf leaf) {
    push(token_of(std::move(leaf)));
    return true;
}

// Its number where that is known, else its place among the jobs.
template <class Value> typename Evaluation<Value>::Token Evaluation<Value>::token_of(Leaf leaf) {
    ++sums_.blocks;
    BlockKey key;
    if (plan_.blocks != 1 && leaf.block.pattern.nnz() <= most_key_entries) {
        key = key_of(leaf);
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        if (const auto waiting = job_of_.find(key); waiting != job_of_.end())
            return ResultOf{waiting->second};
        job_of_.emplace(key, jobs_.size());
    }
    waiting_.grow(bytes_of(leaf.block) + static_cast<std::int64_t>(key.size()));
    const auto number = static_cast<std::uint64_t>(sums_.blocks_computed++);
    Structure structure = structure_for(plan_, leaf.block);
    const std::optional<std::size_t> known =
        plan_.block_plans.find(leaf.block.pattern, leaf.kinds, structure);
    const BlockPlan *planned = known ? &plan_.block_plans[*known].content : nullptr;
    if (planned && planned->choice() && planned->choice()->plan &&
        !planned->choice()->plan->is_for(structure))
        planned = nullptr;
    jobs_.push_back({std::move(leaf), std::move(key), planned, number, std::move(structure), {}});
    return ResultOf{jobs_.size() - 1};
}

template <class Value> void Evaluation<Value>::compute_jobs() {
    std::vector<Job *> together, alone;
    double room = static_cast<double>(options_.memory_limit); // one block alone may take it all
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

// A block that takes a moment is one piece; of others their engines' pieces are.
template <class Value> void Evaluation<Value>::compute(Job &job) {
    if (zeros_leave_no_matching(job.leaf.block)) return; // the outcome is 0, exactly
    PieceScope scope = run_;
    scope.task.block = job.number;
    BlockPlan made;
    const auto planned = [&]() -> const BlockPlan & {
        if (!job.plan && made.candidates.empty())
            made = plan_block(job.leaf.block.pattern, job.leaf.kinds, plan_.block_values(job.structure),
                              options_);
        return job.plan ? *job.plan : made;
    };
    if (!scope.store) return compute_by(planned(), job, scope);
    BlockTask whole = scope.task;
    whole.attempt = whole_block;
    if (const auto known = scope.store->find(whole, 1, 0)) {
        job.outcome = part_of_bytes(*known, Outcome());
        call().skip(job.plan ? job.plan->best().cost.serial_seconds : 0);
        return;
    }
    const bool is_small = (!job.plan && job.leaf.block.n() <= paper_order) || // milliseconds
                          planned().best().cost.serial_seconds < small_block;
    if (is_small && !scope.store->is_wanted(whole, 1, 0)) return;
    if (is_small) scope.store = nullptr;
    compute_by(planned(), job, scope);
    if (is_small || !run_.store->is_of_one_shard()) run_.store->keep_block(whole, bytes_of_part(job.outcome));
}

template <class Value>
void Evaluation<Value>::compute_by(const BlockPlan &plan, Job &job, const PieceScope &pieces) {
    if (plan.refusal != PERM_OK) throw Error(plan.refusal, plan.refusal_text);
    const auto run = [&](const BlockPlan &by, std::uint32_t first_attempt) {
        job.outcome =
            run_block({by, plan_.options, call().memory(), pieces, first_attempt}, std::move(job.leaf.block));
    };
    try {
        run(plan, 0);
    } catch (const UnfitPrime &unfit) {
        if (options_.names_engine() || (pieces.store && pieces.store->is_of_one_shard())) throw;
        const Structure none;
        const BlockPlan other =
            plan_block(job.leaf.block.pattern, job.leaf.kinds, plan_.block_values(none), options_);
        if (other.refusal != PERM_OK) throw;
        log_decision(formatted("{}; so {} computes the block", unfit.what(), name_of(*other.choice())));
        constexpr std::uint32_t behind_all = 16; // attempts of the first plan
        call().expect_more(other.best().cost.serial_seconds);
        run(other, behind_all);
    }
}

// Puts the waiting tokens together as far as they go, and forgets the jobs.
template <class Value> void Evaluation<Value>::fold() {
    for (const Job &job : jobs_) {
        sums_.counts += job.outcome.counts;
        if (job.outcome.predicted_seconds > sums_.predicted_seconds) {
            sums_.predicted_seconds = job.outcome.predicted_seconds;
            sums_.engine = job.outcome.engine;
            sums_.transposed = job.outcome.transposed;
            sums_.on_gpu = job.outcome.on_gpu;
        }
    }
    const auto combine = [this](std::size_t count, const auto &operation) {
        Ball result = stack_[stack_.size() - count];
        for (std::size_t k = stack_.size() - count + 1; k < stack_.size(); ++k) {
            if (!plan_.numbers.are_tracked()) poll();
            result = operation(result, stack_[k]);
        }
        stack_.resize(stack_.size() - count);
        stack_.push_back(result);
    };
    // Exact numbers in pairs: one by one, each product would be as long as all before it. Those of doubles
    // are what they always were, in their order.
    const auto multiply = [&](std::size_t count) {
        if (plan_.numbers.are_tracked())
            return combine(count, [](const Ball &x, const Ball &y) { return x * y; });
        Ball *const factors = &stack_[stack_.size() - count];
        for (std::size_t left = count; left > 1; left = (left + 1) / 2)
            for (std::size_t k = 0; k < left / 2; ++k) {
                poll();
                factors[k] = factors[k] * factors[left - 1 - k];
            }
        stack_.resize(stack_.size() - count + 1);
    };
    for (const Token &token : tokens_) {
        if (const auto *ball = std::get_if<Ball>(&token))
            stack_.push_back(*ball);
        else if (const auto *result = std::get_if<ResultOf>(&token))
            stack_.push_back(ball_of_outcome<Value>(jobs_[result->job].outcome));
        else if (const auto *factors = std::get_if<Multiply>(&token))
            multiply(factors->count);
        else
            combine(std::get<Add>(token).count, [](const Ball &x, const Ball &y) { return x + y; });
    }
    const auto most = std::min(most_known, static_cast<std::size_t>(options_.memory_limit) / 4 +
                                               static_cast<std::size_t>(MemoryBudget::unnoticed_bytes) / 4);
    for (Job &job : jobs_) {
        if (job.key.empty() || known_bytes_ + job.key.size() > most) continue;
        known_bytes_ += job.key.size();
        kept_.grow(static_cast<std::int64_t>(job.key.size()) + 2 * static_cast<std::int64_t>(sizeof(Ball)));
        known_.emplace(std::move(job.key), ball_of_outcome<Value>(job.outcome));
    }
    tokens_.clear();
    jobs_.clear();
    job_of_.clear();
    waiting_.resize(0);
}

template class Evaluation<Tracked>;
template class Evaluation<Gaussian>;

} // namespace libperm
