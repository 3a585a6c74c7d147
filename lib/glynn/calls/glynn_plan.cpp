#include "lib/glynn/calls/glynn_plan.hpp"

#include "lib/glynn/calls/glynn_result.hpp"
#include "lib/glynn/calls/request.hpp"
#include "lib/glynn/graphs/graph_sum.hpp"

namespace libperm {

GlynnPlan::GlynnPlan(const Plan &plan)
    : n_(plan.n()),
      threads_(plan.input.pattern.one_sided ||
                       n_ < least_parallel_order(plan.input.value_type == PERM_VALUE_I64)
                   ? 1
                   : plan.options.threads),
      nnz_(plan.input.pattern.nnz()),
      type_(plan.input.value_type),
      function_(plan.options.function),
      precision_(plan.options.precision),
      tolerance_(plan.options.tolerance),
      escalation_(plan.options) {}

std::unique_ptr<const GlynnPlan> GlynnPlan::of(const Plan &plan) {
    if (!executed_straight(plan)) return nullptr;
    return std::unique_ptr<const GlynnPlan>(new GlynnPlan(plan)); // its constructor is private
}

bool GlynnPlan::run(const void *values, DenseSum &sum, const CallWatch &watch) const {
    if (function_ != MatrixFunction::permanent) {
        SmallGraph small;
        return read_full_graph(values, type_, n_, function_, small) &&
               sum_graph(small, precision_, tolerance_, sum) &&
               escalation_.is_enough_in_doubles(sum.value.rel_error_bound);
    }
    SmallMatrix a;
    return read_full(values, type_, n_, a) && sum_dense(a, precision_, threads_, watch, sum) &&
           escalation_.is_enough_in_doubles(sum.value.rel_error_bound);
}

void GlynnPlan::fill(perm_result &result, const DenseSum &sum, bool with_text) const {
    const bool is_beyond_double = sum.mpz || (sum.integer && !fits_double(*sum.integer));
    if (with_text || is_beyond_double) result.text = text_of(sum);
    libperm::fill(result, sum.value, escalation_.is_met(sum.value.rel_error_bound),
                  account_of(sum, n_, nnz_, threads_));
}

} // namespace libperm
