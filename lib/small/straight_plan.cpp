#include "lib/small/straight_plan.hpp"

#include "lib/small/request.hpp"
#include "lib/small/small_result.hpp"
#include "lib/small/small_text.hpp"

namespace libperm {

StraightPlan::StraightPlan(const Plan &plan)
    : n_(plan.n()),
      threads_(n_ < least_parallel_order(plan.input.value_type == PERM_VALUE_I64) ? 1 : plan.options.threads),
      type_(plan.input.value_type),
      precision_(plan.options.precision),
      escalation_(plan.options) {}

std::unique_ptr<const StraightPlan> StraightPlan::of(const Plan &plan) {
    if (!executes_straight(plan)) return nullptr;
    return std::unique_ptr<const StraightPlan>(new StraightPlan(plan)); // its constructor is private
}

bool StraightPlan::run(const void *values, DenseSum &sum, const CallWatch &watch) const {
    SmallMatrix a;
    return read_full(values, type_, n_, a) && sum_dense(a, precision_, threads_, watch, sum) &&
           escalation_.is_enough_in_doubles(sum.value.rel_error_bound);
}

void StraightPlan::fill(perm_result &result, const DenseSum &sum, bool with_text) const {
    if (sum.longer)
        result.text = text_of(*sum.longer);
    else if (sum.whole && (with_text || !fits_double(*sum.whole)))
        result.text = text_of(*sum.whole);
    else if (with_text)
        result.text = text_of(sum.value);
    libperm::fill(result, sum.value, escalation_.is_met(sum.value.rel_error_bound),
                  account_of(sum, n_, std::int64_t{n_} * n_, threads_));
}

} // namespace libperm
