#include "lib/execute/execute.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/execute/evaluation.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/plan/reduction_bytes.hpp"
#include "lib/run/escalation.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace libperm {

namespace {

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
