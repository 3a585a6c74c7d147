#include "lib/execute.hpp"

#include "lib/ball.hpp"
#include "lib/error.hpp"
#include "lib/evaluation.hpp"
#include "lib/log.hpp"
#include "lib/system.hpp"
#include "lib/wide_value.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <oneapi/tbb/task_arena.h>
#include <optional>

namespace libperm {

namespace {

constexpr int double_bits = std::numeric_limits<double>::digits;

bool is_met(const Plan &plan, const Outcome &outcome) {
    return outcome.exact || outcome.rel_error_bound <= plan.options.tolerance;
}

Outcome run(const Plan &plan, const Values &values) {
    RunControl control(plan.options);
    control.begin(plan.serial_seconds, plan.seconds);
    MemoryBudget memory(plan.options.memory_limit);
    if (plan.numbers.are_tracked())
        return Evaluation<Tracked>(plan, control, memory).run(root_block<Tracked>(plan.input, values));
    return Evaluation<Gaussian>(plan, control, memory).run(root_block<Gaussian>(plan.input, values));
}

// To so many bits, which may be no more than doubles have.
void round_value(Outcome &outcome, int bits) {
    const bool is_double = bits == double_bits && is_real(*outcome.wide);
    const Tracked nearest = tracked_of(outcome.wide->re);
    const Gaussian value = rounded(*outcome.wide, bits);
    Scaled error = outcome.error;
    if (is_double ? nearest.roundings > 0 : !(value == *outcome.wide))
        error = (Ball{{}, error} + Ball{{}, make_scaled(outcome.value.mantissa, outcome.value.exp2 - bits)})
                    .error;
    if (!is_double) return set_value(outcome, WideBall{value, error});
    outcome.wide.reset();
    set_value(outcome, Ball{make_scaled(nearest.value, nearest.exp2), error});
}

// What doubles can tell is told in doubles; an exact fraction as the number that was asked for, unless that
// was exact.
void round_off(const Options &options, Outcome &outcome) {
    if (!outcome.wide) return;
    if (!outcome.exact) {
        if (outcome.rel_error_bound > 0x1p-53) round_value(outcome, double_bits);
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

// A plan of other numbers, if it can be run in so many seconds. What the limits stop is none.
std::optional<Plan> plan_in(Precision precision, const Plan &plan, const Values &values, double seconds) {
    Options options = plan.options;
    options.precision = precision;
    try {
        Plan other = make_plan(plan.input, options, values);
        if (other.refusal == PERM_OK && other.seconds <= seconds) return other;
    } catch (const Error &error) {
        if (!is_limit(error.status())) throw;
    }
    return {};
}

void run_again(const Plan &plan, const Values &values, Outcome &outcome) {
    log_decision(fmt::format("the error bound is {:.1e}: again in precision {}", outcome.rel_error_bound,
                             precision_name(plan.numbers.precision)));
    take_if_better(outcome, [&] { return run(plan, values); });
}

// In numbers that tell more, the quickest first, while that is worth it.
void escalate(const Plan &plan, const Values &values, Outcome &outcome) {
    std::vector<Plan> plans;
    for (const Precision precision : {Precision::dd, Precision::exact})
        if (auto other = plan_in(precision, plan, values, second_seconds)) plans.push_back(std::move(*other));
    std::stable_sort(plans.begin(), plans.end(),
                     [](const Plan &x, const Plan &y) { return x.seconds < y.seconds; });
    for (const Plan &other : plans)
        if (!is_met(plan, outcome)) run_again(other, values, outcome);
}

// Whoever counts wants the last digit as well.
void finish_count(const Plan &plan, const Values &values, Outcome &outcome) {
    constexpr double unnoticed = 0.5; // seconds
    if (const auto other = plan_in(Precision::exact, plan, values, unnoticed))
        run_again(*other, values, outcome);
}

} // namespace

Outcome execute(const Plan &plan, const Values &values) {
    // Numbers of both signs take more memory than was planned with, complex ones other arithmetic.
    if ((plan.nonnegative && some_negative(values)) || (!plan.numbers.complex && some_complex(values)))
        return execute(make_plan(plan.input, plan.options, values), values);
    if (plan.refusal != PERM_OK) {
        // With values there may be repeated rows and columns, and less to do.
        if (plan.values_known || !plan.options.passes.merging) throw Error(plan.refusal, plan.refusal_text);
        const Plan with_values = make_plan(plan.input, plan.options, values);
        return execute(with_values, values);
    }
    Outcome outcome = run(plan, values);
    const bool may_go_on = plan.options.precision == Precision::automatic && !outcome.exact;
    const bool counts =
        plan.input.value_type == PERM_VALUE_I64 || plan.input.value_type == PERM_VALUE_PATTERN;
    if (may_go_on && !is_met(plan, outcome))
        escalate(plan, values, outcome);
    else if (may_go_on && counts)
        finish_count(plan, values, outcome);
    round_off(plan.options, outcome);
    return outcome;
}

void with_threads(int threads, const std::function<void()> &work) {
    oneapi::tbb::task_arena arena(std::min(threads, available_cores())); // TBB complains on stderr about more
    Handover enter, leave;
    const ArriveOnExit left{leave};
    enter.depart();
    arena.execute([&] {
        enter.arrive();
        const DepartOnExit done{leave};
        work();
    });
}

} // namespace libperm
