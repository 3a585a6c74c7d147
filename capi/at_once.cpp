// What is a task, made and run in one call.
#include "capi/boundary.hpp"
#include "capi/periodic_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task.hpp"
#include "capi/task_kinds.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/execute.hpp"
#include "lib/input/option_table.hpp"
#include "lib/low_rank/product_task.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <perm.h>

#include <cstdint>

using capi::guarded;
using libperm::Error;
using libperm::TaskIdentity;

namespace {

perm_answer into_results(perm_result *results, std::int64_t count) {
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = results;
    answer.count = count;
    return answer;
}

// `count` results, as many as there are, which are left cleared by what is thrown. `what` there are:
// "coefficients".
perm_status by_size(const capi::Given &given, std::int64_t count, perm_result *results, const char *what) {
    return guarded([&] {
        if (count < 1)
            throw Error(PERM_BAD_ARGUMENT,
                        libperm::formatted("count is {}: of {} there is one at least", count, what));
        if (!results) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        const perm_task task(given);
        if (count != task.room().results)
            throw Error(PERM_BAD_ARGUMENT, libperm::formatted("count is {}: of this matrix there are {} {}",
                                                              count, task.room().results, what));
        task.run(into_results(results, count));
        of_failure.keep();
    });
}

} // namespace

extern "C" {

perm_status perm_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                          perm_estimated *estimate) {
    return guarded([&] {
        capi::require_place(estimate);
        *estimate = PERM_ESTIMATED_INIT;
        perm_answer answer = PERM_ANSWER_INIT;
        answer.estimate = estimate;
        perm_task({.kind = TaskIdentity::estimate, .opts = opts, .matrix = a, .wanted = estimate_opts})
            .run(answer);
    });
}

perm_status perm_compute_product(const perm_factors *a, const perm_opts *opts, perm_result *result) {
    return capi::into(result, [&](perm_result &r) {
        capi::Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::compute_product);
        const libperm::CurrentCall current(options);
        libperm::with_threads(options.threads, [&] {
            const libperm::ProductTask task(a, options);
            r.seconds_check = watch.lap();
            libperm::Outcome outcome = libperm::run_kept(task, options);
            libperm::round_off(options, outcome);
            capi::fill(r, options, outcome, libperm::answer_of(outcome));
            r.n = task.n();
            r.nnz = task.entries();
            r.seconds_run = watch.lap();
        });
        r.seconds_total = r.seconds_check + r.seconds_run;
    });
}

perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count, perm_result *results) {
    return by_size({.kind = TaskIdentity::matchings, .opts = opts, .matrix = a}, count, results,
                   "numbers of matchings");
}

perm_status perm_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts, int64_t count,
                            perm_result *results) {
    return by_size({.kind = TaskIdentity::polynomial, .opts = opts, .matrix = a, .linear = linear}, count,
                   results, "coefficients");
}

perm_status perm_periodic_execute(const perm_periodic_plan *plan, int64_t length, perm_result *result) {
    return perm_periodic_terms(plan, length, 1, result);
}

perm_status perm_periodic_terms(const perm_periodic_plan *plan, int64_t first, int64_t count,
                                perm_result *results) {
    return guarded([&] {
        if (count > 0) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        if (count == 0) {
            capi::require_executable(plan, libperm::ApiCall::periodic_execute);
            return libperm::require_length(plan->plan, first);
        }
        perm_task({.kind = TaskIdentity::periodic, .count = count, .periodic = plan, .first = first})
            .run(into_results(results, count));
        of_failure.keep();
    });
}

} // extern "C"
