// Probabilities of entries and of unmatched lines (lib/marginals).
#include "lib/marginals/marginals.hpp"

#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/marginals/batch.hpp"
#include "lib/run/run_control.hpp"

#include <perm.h>

using capi::guarded;
using capi::into;
using libperm::Error;

namespace {

void require_place(const libperm::Marginals &marginals, const double *place) {
    if (!place && marginals.count() > 0)
        throw Error(PERM_BAD_ARGUMENT, "the place for the marginals is a null pointer");
}

libperm::MarginalsPlan marginals_plan(const perm_plan &plan) {
    return {plan.plan, plan.direct.get(), plan.gradient};
}

} // namespace

extern "C" {

perm_status perm_plan_marginals(const perm_plan *plan, const void *values, double *marginals,
                                double *error_bounds, perm_result *result) {
    perm_result unwanted = PERM_RESULT_INIT;
    return into(result ? result : &unwanted, [&](perm_result &r) {
        capi::require_executable(plan, libperm::Call::plan_marginals);
        capi::Stopwatch watch;
        libperm::RunControl control(plan->plan.options);
        const libperm::Marginals way(plan->plan.input);
        require_place(way, marginals);
        libperm::Marginals::Work work;
        const libperm::MatchingSum sum =
            way.run(marginals_plan(*plan), values, work, {marginals, error_bounds}, control);
        control.finish();
        capi::fill(r, plan->plan, sum.outcome, libperm::answer_of(sum.value, result != nullptr));
        r.threads = 1;
        r.seconds_run = r.seconds_total = watch.lap();
    });
}

perm_status perm_plan_marginals_batch(const perm_plan *plan, const void *values, int64_t stride,
                                      int64_t count, double *marginals, double *error_bounds,
                                      perm_result *results) {
    return guarded([&] {
        capi::ClearedOnFailure of_failure(results, count);
        capi::require_executable(plan, libperm::Call::plan_marginals);
        libperm::RunControl control(plan->plan.options);
        const libperm::Marginals way(plan->plan.input);
        if (count > 0) require_place(way, marginals);
        const auto tell = [&](std::int64_t k, const libperm::MatchingSum &sum) {
            if (!results) return;
            perm_result filled = PERM_RESULT_INIT;
            capi::fill(filled, plan->plan, sum.outcome, libperm::answer_of(sum.value, false));
            filled.threads = 1;
            capi::write(capi::result_at(results, k), filled);
        };
        libperm::with_threads(plan->plan.options.threads, [&] {
            libperm::marginals_of_batch(marginals_plan(*plan), way, {values, stride, count},
                                        {marginals, error_bounds}, control, tell);
        });
        control.finish();
        of_failure.keep();
    });
}

} // extern "C"
