// Probabilities of entries and of unmatched lines (lib/marginals).
#include "lib/marginals/marginals.hpp"

#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/option_table.hpp"
#include "lib/run/call.hpp"

#include <perm.h>

#include <functional>
#include <memory>
#include <optional>

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

// By few sets on this thread, which takes less than to ask others.
void on_threads(const libperm::Marginals &way, int threads, const std::function<void()> &run) {
    if (way.by_sets())
        run();
    else
        libperm::with_threads(threads, run);
}

// Into a cleared result.
void by_plan(const perm_plan *plan, const void *values, const libperm::MarginalNumbers &to, perm_result &r,
             bool with_text) {
    capi::require_executable(plan, libperm::ApiCall::plan_marginals);
    capi::Stopwatch watch;
    const libperm::CurrentCall current(plan->plan.options);
    const libperm::Marginals way(plan->plan.input);
    require_place(way, to.marginals);
    libperm::Marginals::Work work;
    libperm::MatchingSum sum;
    on_threads(way, plan->plan.options.threads,
               [&] { sum = way.run(marginals_plan(*plan), values, work, to); });
    libperm::call().finish();
    capi::fill(r, plan->plan, sum.outcome, libperm::answer_of(sum.value, with_text));
    r.threads = sum.threads;
    r.seconds_run = r.seconds_total = watch.lap();
}

// False: a plan is to find the way.
bool without_plan(const perm_csr *a, const perm_opts *opts, const libperm::MarginalNumbers &to,
                  perm_result &r) {
    capi::Stopwatch watch;
    const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::plan_marginals);
    const libperm::CurrentCall current(options);
    const libperm::InputPattern input = capi::pattern_for(a, options.function);
    const libperm::Marginals way(input);
    require_place(way, to.marginals);
    const libperm::GivenValues values(input, *a);
    r.seconds_check = watch.lap();
    libperm::Marginals::Work work;
    std::optional<libperm::MatchingSum> sum;
    const auto run = [&] { sum = way.run_alone(input, options, values.data(), work, to); };
    on_threads(way, options.threads, run);
    if (!sum) return false;
    libperm::call().finish();
    capi::fill(r, options, sum->outcome, libperm::answer_of(sum->value, true));
    r.n = input.pattern.rows;
    r.nnz = input.pattern.nnz();
    r.threads = sum->threads;
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_check + r.seconds_run;
    return true;
}

} // namespace

extern "C" {

perm_status perm_marginals(const perm_csr *a, const perm_opts *opts, double *marginals, double *error_bounds,
                           perm_result *result) {
    perm_result unwanted = PERM_RESULT_INIT;
    const perm_status status = into(result ? result : &unwanted, [&](perm_result &r) {
        if (without_plan(a, opts, {marginals, error_bounds}, r)) return;
        const std::unique_ptr<const perm_plan> plan = capi::create_plan(a, opts);
        const libperm::GivenValues values(plan->plan.input, *a);
        by_plan(plan.get(), values.data(), {marginals, error_bounds}, r, true);
    });
    capi::clear(unwanted);
    return status;
}

perm_status perm_plan_marginals(const perm_plan *plan, const void *values, double *marginals,
                                double *error_bounds, perm_result *result) {
    perm_result unwanted = PERM_RESULT_INIT;
    return into(result ? result : &unwanted, [&](perm_result &r) {
        by_plan(plan, values, {marginals, error_bounds}, r, result != nullptr);
    });
}

perm_status perm_plan_marginals_batch(const perm_plan *plan, const void *values, int64_t stride,
                                      int64_t count, double *marginals, double *error_bounds,
                                      perm_result *results) {
    return guarded([&] {
        capi::ClearedOnFailure of_failure(results, count);
        capi::require_executable(plan, libperm::ApiCall::plan_marginals);
        const libperm::CurrentCall current(plan->plan.options);
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
                                        {marginals, error_bounds}, tell);
        });
        libperm::call().finish();
        of_failure.keep();
    });
}

} // extern "C"
