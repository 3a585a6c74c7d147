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
#include <oneapi/tbb/task_arena.h>

namespace libperm {

namespace {

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

// An exact fraction as the number that was asked for: rounded to what the tolerance needs, at least to
// doubles.
void round_fraction(Outcome &outcome, double tolerance) {
    if (!outcome.exact || !outcome.wide || is_integer(*outcome.wide)) return;
    const int bits = std::max(53, static_cast<int>(std::ceil(2 - std::log2(tolerance))));
    const Scaled error = make_scaled(outcome.value.mantissa, outcome.value.exp2 - bits);
    if (bits > 53 || !is_real(*outcome.wide))
        return set_value(outcome, WideBall{rounded(*outcome.wide, bits), error});
    const Tracked value = tracked_of(outcome.wide->re);
    outcome.wide.reset();
    set_value(outcome, Ball{make_scaled(value.value, value.exp2), error});
}

// Again in numbers that tell more, the quickest first, while that is worth it.
void escalate(const Plan &plan, const Values &values, Outcome &outcome) {
    std::vector<Plan> plans;
    for (const Precision precision : {Precision::dd, Precision::exact}) {
        Options options = plan.options;
        options.precision = precision;
        Plan other = make_plan(plan.input, options, values);
        if (other.refusal == PERM_OK && other.seconds < second_seconds) plans.push_back(std::move(other));
    }
    std::stable_sort(plans.begin(), plans.end(),
                     [](const Plan &x, const Plan &y) { return x.seconds < y.seconds; });
    for (const Plan &other : plans) {
        log_decision(fmt::format("the error bound {:.1e} is above the tolerance: again in precision {}",
                                 outcome.rel_error_bound, precision_name(other.numbers.precision)));
        try {
            Outcome better = run(other, values);
            if (better.rel_error_bound < outcome.rel_error_bound) outcome = std::move(better);
        } catch (const Error &error) {
            if (!is_limit(error.status())) throw;
            continue;
        }
        if (is_met(plan, outcome)) break;
    }
    round_fraction(outcome, plan.options.tolerance);
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
    if (plan.options.precision == Precision::automatic && !is_met(plan, outcome))
        escalate(plan, values, outcome);
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
