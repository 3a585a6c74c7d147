#include "lib/execute/block_run.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/doubles.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/call.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <type_traits>

namespace libperm {
namespace {

// Sums over subsets are given A^T where that is what was planned.
bool takes_transpose(const Candidate &c) { return c.transposed && sums_subsets(c.engine); }

template <class Value>
Charge transpose_held(const BlockRun &run, const Candidate &choice, const BlockOf<Value> &block) {
    return Charge(&run.memory, takes_transpose(choice) ? bytes_of(block) : 0);
}

// A candidate at work on a block: its attempt in the account of pieces, its share of the progress.
class Attempt {
  public:
    // `slowdown`: of what the candidate's time was predicted for.
    Attempt(const BlockRun &run, const Candidate &choice, std::uint32_t number, double slowdown = 1)
        : run_(run),
          choice_(choice),
          part_(call(), slowdown * seconds_per_step(choice), run.attempt(number)) {}

    // The lines lie in `room`, where they are not the block's own.
    template <class Value>
    const BlockOf<Value> &lines_of(const BlockOf<Value> &block, BlockOf<Value> &room) const {
        return takes_transpose(choice_) ? room = transposed(block) : block;
    }

    EngineResult run(const EngineInput &input) {
        GpuQueues gpus(run_.options);
        EngineResult result;
        const PolledScope of_this = scope();
        with_gpu_errors([&] {
            result = info_of(choice_.engine).run({choice_, run_.options, run_.memory, gpus}, input);
        });
        result.counts.seconds_compile = gpus.compile_seconds();
        result.counts.kernels_compiled = gpus.kernels_compiled();
        return result;
    }

    Outcome outcome_of(const EngineResult &result) const {
        Outcome outcome = libperm::outcome_of(result);
        outcome.engine = choice_.engine;
        outcome.transposed = choice_.transposed;
        outcome.on_gpu = choice_.on_gpu;
        outcome.predicted_seconds = choice_.cost.serial_seconds;
        return outcome;
    }

    int prime_bits() const { return choice_.on_gpu ? modular_bits : info_of(choice_.engine).prime_bits; }
    std::span<const std::int64_t> entries_read() const { return choice_.plan->entries_read(); }
    bool is_fit(const Residues &residues, std::size_t matrix) const {
        return !choice_.plan || choice_.plan->is_fit(residues, matrix);
    }
    std::string name() const { return name_of(choice_); }
    PolledScope scope() { return PolledScope(&part_); }

  private:
    const BlockRun &run_;
    const Candidate &choice_;
    Call part_;
};

// Sums over subsets lose digits where terms cancel, and of signed full doubles to the grid of their kernels.
// The frontier does not lose the first, Ryser's sum without a kernel not the second. None where the frontier
// is done sooner, but in the numbers alone that the whole plan is given next.
const Candidate *second_choice(const BlockRun &run, const Candidate &first, const EngineResult &result,
                               const Outcome &outcome) {
    if (run.pieces.store && run.pieces.store->is_of_one_shard()) return nullptr; // there is no answer yet
    const Escalation escalation(run.options);
    if (!escalation.may_change_engine(first.engine) ||
        escalation.is_met(outcome.rel_error_bound, outcome.exact))
        return nullptr;
    for (const Candidate &c : run.plan.candidates) { // by weight
        if (!c.second || has_kernel(c.engine)) continue;
        if (sums_subsets(c.engine) == result.grid_matters) return &c;
        if (result.grid_matters) return c.expected_runs > 1 ? nullptr : &c;
    }
    return nullptr;
}

EngineInput planned_input(const BlockRun &, const Block &lines) { return lines; }
EngineInput planned_input(const BlockRun &run, const ExactBlock &lines) {
    return {lines, run.plan.numbers.arithmetic()};
}

// What the block's values have from the reductions, beside what was computed of them as they stand.
void add_input_error(Outcome &outcome, const Block &block) {
    if (most_roundings(block) == 0) return;
    const int down = ldexp_exponent(outcome.error.exp2 - outcome.value.exp2);
    set_value(outcome, ball_from(block, outcome.value.mantissa, std::ldexp(outcome.error.mantissa, down),
                                 outcome.value.exp2));
}
void add_input_error(Outcome &, const ExactBlock &) {}

// What is sure to need more than the doubles that were planned is done in more at once, if there is time.
// That follows from plan and values, so that shards and who combines them do the same.
template <class Value>
std::optional<Outcome> run_in_wider(const BlockRun &run, const Candidate &choice,
                                    const BlockOf<Value> &block) {
    const auto in_wider = info_of(choice.engine).in_wider;
    const Escalation escalation(run.options);
    if (!in_wider || !escalation.may_refine_rows()) return {};
    BlockOf<Value> room;
    const BlockOf<Value> &planned = Attempt(run, choice, 0).lines_of(block, room);
    std::optional<Outcome> best;
    double slowdown = 1; // of the first
    std::uint32_t number = 0;
    for (const Wider &wider : in_wider(choice, planned_input(run, planned))) {
        const bool has_time = run.pieces.store || wider.slowdown * predicted_seconds(choice, run.options) <=
                                                      run.options.refuse_seconds;
        if (!has_time || (is_compensated(wider.arithmetic) && !escalation.may_change_numbers())) break;
        if (!wider.may_meet && escalation.may_change_numbers()) continue; // the next may
        log_decision(formatted("{}: a grid of doubles would leave too few digits, so in numbers {}",
                               name_of(choice), arithmetic_name(wider.arithmetic)));
        const double slower = best ? wider.slowdown / slowdown : 1; // what comes first is in the plan
        if (best)
            call().expect_more(slower * wider.candidate.cost.serial_seconds);
        else
            slowdown = wider.slowdown;
        Attempt attempt(run, wider.candidate, ++number, slower);
        const Charge wide(&run.memory, bytes_made_exact(block));
        ExactBlock room_for_lines;
        const auto &exact = exact_block(block);
        const ExactBlock &lines = attempt.lines_of(exact, room_for_lines);
        const auto work = [&] {
            Outcome outcome = attempt.outcome_of(attempt.run(EngineInput(lines, wider.arithmetic)));
            if (std::is_same_v<Value, Tracked>) round_value(outcome);
            add_input_error(outcome, block);
            return outcome;
        };
        if (best)
            take_if_better(*best, work, run.pieces.store && run.pieces.store->spares_pieces());
        else
            best = work();
        const bool has_answer = !run.pieces.store || !run.pieces.store->is_of_one_shard();
        if (!has_answer || escalation.is_met(best->rel_error_bound, best->exact)) break;
    }
    return best;
}

// The first outcome stands if there is no time for a second.
void try_second(const BlockRun &run, const Candidate &second, const Block &block, Outcome &outcome) {
    log_decision(formatted("{}: its error bound {:.1e} is above the tolerance, so {} again",
                           name_of(*run.plan.choice()), outcome.rel_error_bound, name_of(second)));
    const Counts first = outcome.counts;
    call().expect_more(second.cost.serial_seconds);
    take_if_better(
        outcome,
        [&] {
            Attempt attempt(run, second, 1);
            Block room;
            Outcome again = attempt.outcome_of(attempt.run(attempt.lines_of(block, room)));
            again.counts.seconds_compile = first.seconds_compile;
            again.counts.kernels_compiled = first.kernels_compiled;
            return again;
        },
        run.pieces.store && run.pieces.store->spares_pieces());
}

constexpr std::int64_t bounding_bytes =
    120; // of an entry, while the permanent is bounded: its magnitude, twice

std::int64_t bytes_of(const std::vector<mpz_class> &numbers) {
    std::int64_t bytes = 0;
    for (const mpz_class &x : numbers) bytes += integer_bytes(x);
    return bytes;
}

Residues residues_for(std::span<const std::int64_t> entries, IntegerBlock &integers,
                      std::vector<std::uint64_t> primes) {
    if (entries.empty()) return residues_of(integers.pattern, integers.re, integers.im, std::move(primes));
    std::vector<mpz_class> re, im;
    for (const std::int64_t k : entries) {
        re.push_back(std::move(integers.re[at(k)]));
        if (!integers.im.empty()) im.push_back(std::move(integers.im[at(k)]));
    }
    Residues residues = residues_of(integers.pattern, re, im, std::move(primes));
    residues.entries.assign(entries.begin(), entries.end());
    return residues;
}

// A block modulo as many primes as its permanent needs.
struct MatricesOfBlock {
    IntegerBlock integers; // those that are read are moved into the matrices
    std::optional<Residues> matrices;
    Charge charge;
};

// `left_out`: primes that are not to be among them.
void find_matrices(const BlockRun &run, Attempt &attempt, const ExactBlock &lines,
                   const std::vector<std::uint64_t> &left_out, MatricesOfBlock &of) {
    of.charge.resize(bytes_of(lines));
    of.integers = integer_block(lines);
    const IntegerBlock &integers = of.integers;
    of.charge.resize(bytes_of(integers.pattern) + bytes_of(integers.re) + bytes_of(integers.im));
    std::vector<std::uint64_t> primes;
    {
        const Charge bounding(&run.memory, bounding_bytes * integers.pattern.nnz());
        primes =
            enough_primes(permanent_bits(integers), {attempt.prime_bits(), !integers.im.empty(), left_out});
    }
    const std::size_t read = attempt.entries_read().size();
    of.charge.grow(std::int64_t{8} * static_cast<std::int64_t>(primes.size()) *
                   (read > 0 ? static_cast<std::int64_t>(read) : integers.pattern.nnz()));
    of.matrices.emplace(residues_for(attempt.entries_read(), of.integers, std::move(primes)));
}

// Primes that divide what the plan divides by are left out before pieces are numbered: so all that share the
// work number them alike. Where as many are met as no bad luck brings, the engine itself says so.
MatricesOfBlock matrices_of(const BlockRun &run, Attempt &attempt, const ExactBlock &lines) {
    constexpr std::size_t most_left_out = 64;
    MatricesOfBlock of{{}, {}, Charge(&run.memory, 0)};
    for (std::vector<std::uint64_t> unfit;;) {
        find_matrices(run, attempt, lines, unfit, of);
        const std::size_t before = unfit.size();
        for (std::size_t k = 0; k < of.matrices->primes.size(); ++k)
            if (!attempt.is_fit(*of.matrices, k)) unfit.push_back(of.matrices->primes[k]);
        if (unfit.size() == before || unfit.size() > most_left_out) return of;
        log_decision(formatted("{}: left out {} primes that it cannot divide by", attempt.name(),
                               unfit.size() - before));
    }
}

Outcome run_exactly(const BlockRun &run, Attempt &attempt, const ExactBlock &lines) {
    const PolledScope of_attempt = attempt.scope();
    const MatricesOfBlock of = matrices_of(run, attempt, lines);
    const EngineResult result = attempt.run(*of.matrices);
    Outcome outcome = attempt.outcome_of(result);
    outcome.wide = from_residues(of.matrices->primes, std::get<ResidueVector>(result.value),
                                 !of.integers.im.empty(), &run.memory) *
                   Gaussian{of.integers.factor, 0};
    outcome.exact = true;
    return outcome;
}

bool by_residues(const Candidate &c) {
    const auto alone = info_of(c.engine).by_residues;
    return alone && alone(c);
}

// What engines that take residues alone come to; a double has the nearest, with what reductions rounded.
Outcome run_by_residues(const BlockRun &run, const Candidate &choice, const Block &block) {
    const Charge charge(&run.memory, bytes_made_exact(block));
    Attempt attempt(run, choice, 0);
    Outcome outcome = run_exactly(run, attempt, exact_block(block));
    set_value(outcome, WideBall{*outcome.wide, {}});
    round_value(outcome);
    add_input_error(outcome, block);
    return outcome;
}

} // namespace

Outcome run_block(const BlockRun &run, Block &&block) {
    const Candidate &choice = *run.plan.choice();
    if (by_residues(choice)) return run_by_residues(run, choice, block);
    const std::int64_t exp2 = run.options.passes.scaling ? scale(block) : 0;
    const Charge charge = transpose_held(run, choice, block);
    Outcome outcome;
    if (std::optional<Outcome> certain = run_in_wider(run, choice, block)) {
        outcome = *std::move(certain);
    } else {
        Attempt attempt(run, choice, 0);
        Block room;
        const EngineResult result = attempt.run(attempt.lines_of(block, room));
        outcome = attempt.outcome_of(result);
        if (const Candidate *second = second_choice(run, choice, result, outcome))
            try_second(run, *second, block, outcome);
    }
    if (!std::isfinite(outcome.value.mantissa))
        throw Error(
            PERM_UNSUPPORTED,
            run.options.passes.scaling
                ? "an intermediate result overflowed: the entries are too many orders of magnitude apart"
                : "an intermediate result overflowed: leave the pass \"scaling\" on");
    for (Scaled *x : {&outcome.value, &outcome.error})
        if (x->mantissa != 0) x->exp2 -= exp2;
    return outcome;
}

Outcome run_block(const BlockRun &run, const ExactBlock &block) {
    const Candidate &choice = *run.plan.choice();
    const Charge charge = transpose_held(run, choice, block);
    const Numbers &numbers = run.plan.numbers;
    if (numbers.arithmetic() == Arithmetic::complex)
        if (std::optional<Outcome> certain = run_in_wider(run, choice, block)) return *std::move(certain);
    Attempt attempt(run, choice, 0);
    ExactBlock room;
    const ExactBlock &lines = attempt.lines_of(block, room);
    if (numbers.precision == Precision::exact || by_residues(choice)) return run_exactly(run, attempt, lines);
    return attempt.outcome_of(attempt.run(EngineInput(lines, numbers.arithmetic())));
}

} // namespace libperm
