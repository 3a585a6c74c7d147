#include "lib/execute/execute.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/plan/block_product.hpp"
#include "lib/run/call.hpp"
#include "lib/run/errors.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace libperm {
namespace {

constexpr std::size_t most_jobs = 64;             // blocks waiting to be computed
constexpr std::size_t most_tokens = 10000;        // and what to do with their numbers
constexpr double unplanned_bytes = 1 << 20;       // that a block of order 30 may take
constexpr double short_job = 0.01;                // seconds: such blocks are computed at the same time
constexpr std::size_t most_known = 1 << 26;       // bytes of keys of known numbers
constexpr std::int64_t most_key_entries = 100000; // of a block whose number is looked up

// The sum of products of a plan, with values: blocks are computed as the decomposition brings them, some at
// the same time, and put together in its order.
template <class Value> class Evaluation {
    using Ball = typename BallOf<Value>::type;
    using Leaf = LeafOf<Value>;

  public:
    // `run`: this run of its plan, and the parts that are known.
    Evaluation(const Plan &plan, const PieceScope &run)
        : plan_(plan),
          run_(run),
          options_(options_of_blocks(plan)),
          waiting_(&call().memory()),
          kept_(&call().memory()) {}

    // Throws Error.
    Outcome run(BlockOf<Value> root) {
        DecompositionRule<Value> rule = rule_of<Value>(plan_);
        rule.passes.merging = plan_.options.passes.merging;
        Decomposition<Value> decomposition(std::move(root), std::move(rule));
        walk_blocks(decomposition, *this);
        compute_jobs();
        if (plan_.input.free_lines() > 0) stack_.back() = stack_.back() / ways_of_free_lines(plan_.input);
        set_value(sums_, stack_.back());
        sums_.counts.peak_bytes =
            std::max(sums_.counts.peak_bytes, call().memory().peak()); // on a GPU, or here
        return sums_;
    }

    // The algebra of its walk (lib/plan/block_walk.hpp): numbers are put on the stack, when they are there.
    bool block(Leaf leaf) {
        push(token_of(std::move(leaf)));
        return true;
    }
    void number(const Value &x) { push(ball_of(x)); }
    void multiply(std::size_t count) { push(Multiply{count}); }
    void add(std::size_t count) { push(Add{count}); }

  private:
    struct Job { // one block to be computed
        Leaf leaf;
        BlockKey key;          // empty: its number is not to be kept
        const BlockPlan *plan; // of the plan's, or null: not planned yet
        std::uint64_t number;  // among those to be computed
        Structure structure;
        Outcome outcome;
    };
    struct ResultOf { // instead of a block
        std::size_t job;
    };
    using Token = std::variant<Ball, ResultOf, Multiply, Add>;

    void push(Token token) {
        tokens_.push_back(std::move(token));
        if (jobs_.size() == most_jobs || tokens_.size() >= most_tokens) compute_jobs();
    }

    // Its number where that is known, else its place among the jobs.
    Token token_of(Leaf leaf) {
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

    void compute_jobs() {
        std::vector<Job *> together, alone;
        double room = static_cast<double>(options_.memory_limit); // one block alone may take it all
        for (Job &job : jobs_) {
            const bool is_short = job.plan
                                      ? job.plan->best().cost.serial_seconds < short_job
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
    void compute(Job &job) {
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
        if (is_small || !run_.store->is_of_one_shard())
            run_.store->keep_block(whole, bytes_of_part(job.outcome));
    }

    void compute_by(const BlockPlan &plan, Job &job, const PieceScope &pieces) {
        if (plan.refusal != PERM_OK) throw Error(plan.refusal, plan.refusal_text);
        const auto run = [&](const BlockPlan &by, std::uint32_t first_attempt) {
            job.outcome = run_block({by, plan_.options, call().memory(), pieces, first_attempt},
                                    std::move(job.leaf.block));
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
    void fold() {
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
        // Exact numbers in pairs: one by one, each product would be as long as all before it. Those of
        // doubles are what they always were, in their order.
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
        const auto most =
            std::min(most_known, static_cast<std::size_t>(options_.memory_limit) / 4 +
                                     static_cast<std::size_t>(MemoryBudget::unnoticed_bytes) / 4);
        for (Job &job : jobs_) {
            if (job.key.empty() || known_bytes_ + job.key.size() > most) continue;
            known_bytes_ += job.key.size();
            kept_.grow(static_cast<std::int64_t>(job.key.size()) +
                       2 * static_cast<std::int64_t>(sizeof(Ball)));
            known_.emplace(std::move(job.key), ball_of_outcome<Value>(job.outcome));
        }
        tokens_.clear();
        jobs_.clear();
        job_of_.clear();
        waiting_.resize(0);
    }

    const Plan &plan_;
    PieceScope run_;
    const Options options_;     // of blocks
    Charge waiting_, kept_;     // of the jobs, of the numbers of blocks computed before
    std::vector<Job> jobs_;     // not computed yet
    std::vector<Token> tokens_; // not folded yet
    std::vector<Ball> stack_;
    std::unordered_map<BlockKey, std::size_t> job_of_; // in jobs_
    std::unordered_map<BlockKey, Ball> known_;         // numbers of blocks computed before
    std::size_t known_bytes_ = 0;
    Outcome sums_; // counts over all blocks
};

bool is_met(const Plan &plan, const Outcome &outcome) {
    return Escalation(plan.options).is_met(outcome.rel_error_bound, outcome.exact);
}

Outcome run(const Plan &plan, const Values &values, PieceStore *store) {
    PieceScope pieces{store, {}};
    if (store) pieces.task.plan = std::stoull(digest_of(plan).substr(16), nullptr, 16);
    const double share = store ? store->share() : 1;
    call().begin(plan.serial_seconds * share, plan.seconds * share);
    const Charge charge(&call().memory(), held_bytes(plan));
    if (plan.numbers.are_tracked())
        return Evaluation<Tracked>(plan, pieces).run(root_block<Tracked>(plan.input, values));
    return Evaluation<Gaussian>(plan, pieces).run(root_block<Gaussian>(plan.input, values));
}

double usual_seconds(const Plan &plan) { return predicted_seconds(plan, usual_threads); }

// What is left of a call when its first answer is there: everything here may be done without.
class SecondRun {
  public:
    SecondRun(const Plan &plan, const Values &values, PieceStore *store, Outcome &outcome)
        : plan_(plan), values_(values), store_(store), outcome_(outcome) {}

    // Goes on in numbers that tell more, the quickest first, while that is worth it.
    void escalate() {
        std::optional<Plan> dd = plan_on(Escalation::dd);
        if (dd && usual_seconds(*dd) <= unnoticed_seconds) { // sooner done than compared
            run_again(*dd);
            dd.reset();
        }
        if (is_met(plan_, outcome_)) return;
        const std::optional<Plan> exact = plan_on(Escalation::exact);
        const bool exact_first = exact && dd && usual_seconds(*exact) < usual_seconds(*dd);
        for (const auto *other : {exact_first ? &exact : &dd, exact_first ? &dd : &exact})
            if (*other && !is_met(plan_, outcome_)) run_again(**other);
    }

    void finish_count() {
        if (const auto exact = plan_on(Escalation::last_digit)) run_again(*exact);
    }

    // A count without a certain digit is no answer: the limit that kept it from having any is.
    void require_digits() const {
        if (refused_ && std::isinf(outcome_.rel_error_bound)) throw Error(*refused_);
    }

  private:
    bool goes_on() const { return store_ && store_->spares_pieces(); }

    template <class Work> auto noting_refusal(const Work &work) {
        try {
            return work();
        } catch (const Error &error) {
            note(error);
            throw;
        }
    }
    void note(const Error &error) {
        if (error.status() == PERM_REFUSED_MEMORY || error.status() == PERM_REFUSED_TIME) refused_ = error;
    }

    // Returns none if it would take too long.
    std::optional<Plan> plan_on(const Escalation::Step &step) {
        Options options = plan_.options;
        options.precision = step.precision;
        call().begin(0, 0);
        Plan other;
        const auto make = [&] { other = make_plan(plan_.input, options, values_); };
        const bool made = within_limits([&] { noting_refusal(make); }, goes_on());
        if (made && other.refusal != PERM_OK) note({other.refusal, other.refusal_text});
        if (!made || other.refusal != PERM_OK || usual_seconds(other) > step.most_seconds) return {};
        return other;
    }

    void run_again(const Plan &other) {
        log_decision(formatted("the error bound is {:.1e}: again in precision {}", outcome_.rel_error_bound,
                               precision_name(other.numbers.precision)));
        take_if_better(
            outcome_, [&] { return noting_refusal([&] { return run(other, values_, store_); }); }, goes_on());
    }

    const Plan &plan_;
    const Values &values_;
    PieceStore *store_;
    Outcome &outcome_;
    std::optional<Error> refused_; // by a limit
};

} // namespace

void round_off(const Options &options, Outcome &outcome) {
    if (options.modulus != 0) return reduce(outcome, options.modulus, in_words(options.function));
    if (!outcome.wide) return;
    if (!outcome.exact) {
        if (outcome.rel_error_bound <= 0x1p-53) return;
        Outcome in_doubles = outcome;
        round_value(in_doubles);
        const Escalation escalation(options);
        if (escalation.is_met(in_doubles.rel_error_bound) || !escalation.is_met(outcome.rel_error_bound))
            outcome = std::move(in_doubles);
        return;
    }
    if (is_integer(*outcome.wide) || options.precision == Precision::exact) return;
    int bits = double_bits;
    if (options.precision == Precision::automatic)
        bits = std::max(bits, static_cast<int>(std::ceil(2 - std::log2(options.tolerance))));
    if (options.precision == Precision::dd) bits *= 2;
    if (options.precision == Precision::mpfr) bits = options.mpfr_bits;
    round_value(outcome, bits);
}

const char *why_planned_anew(const Plan &plan, const Values &values) {
    if ((plan.nonnegative || !plan.numbers.complex) && some_complex(values)) return "some values are complex";
    if (plan.nonnegative && some_negative(values)) return "some values are negative";
    return nullptr;
}

bool is_refused(const Plan &plan) {
    return plan.refusal != PERM_OK && (plan.values_known || !plan.options.passes.merging);
}

Outcome execute_once(const Plan &plan, const Values &values, PieceStore *store) {
    if (plan.refusal != PERM_OK)
        throw Error(plan.refusal, plan.refusal_text + (plan.once.empty() ? "" : "\n  " + plan.once));
    return run(plan, values, store);
}

Outcome execute(const Plan &plan, const Values &values, PieceStore *store) {
    if (plan.repeated) {
        if (std::optional<Outcome> outcome = plan.repeated->execute(plan.input, values)) {
            if (plan.options.modulus == 0) round_off(plan.options, *outcome);
            outcome->counts.peak_bytes = call().memory().peak();
            return *std::move(outcome);
        }
        return execute(plan_in_blocks(plan), values, store);
    }
    const auto plan_anew = [&] { return make_plan(plan.input, plan.options, values); };
    // Numbers of both signs take more memory than was planned with, complex ones other arithmetic.
    if (why_planned_anew(plan, values)) return execute(plan_anew(), values, store);
    // With values there may be repeated rows and columns, and less to do.
    if (plan.refusal != PERM_OK && !is_refused(plan)) return execute(plan_anew(), values, store);
    const Charge charge(&call().memory(), bytes_of(values));
    Outcome outcome = execute_once(plan, values, store);
    if (Escalation(plan.options).may_change_numbers()) {
        SecondRun second(plan, values, store, outcome);
        if (counts(plan.input.value_type) && !outcome.exact) second.finish_count();
        if (!is_met(plan, outcome)) second.escalate();
        if (counts(plan.input.value_type)) second.require_digits();
    }
    round_off(plan.options, outcome);
    if (!outcome.on_gpu) // of a second run that came to nothing, too
        outcome.counts.peak_bytes = std::max(outcome.counts.peak_bytes, call().memory().peak());
    return outcome;
}

} // namespace libperm
