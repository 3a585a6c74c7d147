// What plans are executed for beside the permanent: its derivatives, and the probabilities of entries and
// of unmatched lines.

#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "capi/plan_execute.hpp"
#include "capi/tasks.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/option_table.hpp"
#include "lib/marginals/marginals.hpp"
#include "lib/run/call.hpp"
#include "lib/run/errors.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <perm.h>

using capi::guarded;
using capi::into;
using libperm::Error;

namespace {

void require_place(const perm_plan &plan, const void *place, const char *what = "gradient") {
    if (!place && plan.plan.input.pattern.nnz() > 0)
        throw Error(PERM_BAD_ARGUMENT, libperm::formatted("the place for the {} is a null pointer", what));
}

// Where a matrix's values lie, and where its derivatives go: null is allowed for values and bounds.
struct Arrays {
    const void *values;
    double *gradient, *error_bounds;
};

// `r` is a cleared result.
void gradient_into(const perm_plan &plan, const libperm::GradientWay &way, int threads, const Arrays &arrays,
                   perm_result &r, bool with_text) {
    libperm::Outcome outcome;
    const libperm::TapeAnswer answer =
        way.run(plan.plan, threads, arrays.values, arrays.gradient, arrays.error_bounds, outcome);
    capi::fill(r, plan.plan, outcome, libperm::answer_of(answer, with_text));
    r.threads = libperm::sums_subsets(outcome.engine) ? threads : 1;
}

// As a task that goes on from its checkpoint.
void kept_gradient_into(const perm_plan &plan, const void *values, void *gradient, double *error_bounds,
                        perm_result &r) {
    perm_answer answer = PERM_ANSWER_INIT;
    answer.numbers = static_cast<double *>(gradient);
    answer.error_bounds = error_bounds;
    answer.results = &r;
    perm_task({.kind = libperm::TaskIdentity::derivatives, .plan = &plan, .values = values}).run(answer);
}

// Of `count` matrices, all at the same time if they are short.
void gradients_into(const perm_plan &plan, const void *values, std::int64_t stride, std::int64_t count,
                    double *gradients, double *error_bounds, perm_result *results) {
    constexpr double short_run = 0.01; // seconds
    const double each = std::max(plan.plan.seconds, 1e-6);
    libperm::call().begin(static_cast<double>(count), each * static_cast<double>(count));
    const bool is_short = each < short_run;
    libperm::GradientWay way = plan.gradient.way(plan.plan, plan.direct.get());
    if (is_short) way.on_gpu = false; // matrices of which a GPU takes one at a time
    const std::int64_t parts = plan.plan.input.value_type == PERM_VALUE_C128 ? 2 : 1,
                       entries = libperm::values_given(plan.plan.input);
    const auto one = [&](std::uint64_t number) {
        const auto k = static_cast<std::int64_t>(number);
        const Arrays arrays = {values ? static_cast<const double *>(values) + k * stride * parts : nullptr,
                               gradients + k * entries * parts,
                               error_bounds ? error_bounds + k * entries : nullptr};
        perm_result filled = PERM_RESULT_INIT;
        libperm::naming_matrix(k, true, [&] {
            libperm::CurrentCall part(0, libperm::Call::OwnMemory());
            gradient_into(plan, way, is_short ? 1 : plan.plan.options.threads, arrays, filled, false);
        });
        if (results) capi::write(capi::result_at(results, k), filled);
        libperm::call().advance(1);
    };
    if (is_short)
        libperm::parallel_for(static_cast<std::uint64_t>(count), one);
    else
        for (std::int64_t k = 0; k < count; ++k) one(static_cast<std::uint64_t>(k));
    libperm::call().finish();
}

} // namespace

perm_status perm_plan_gradient(const perm_plan *plan, const void *values, void *gradient,
                               double *error_bounds, perm_result *result) {
    perm_result unwanted = PERM_RESULT_INIT;
    const perm_status status = into(result ? result : &unwanted, [&](perm_result &r) {
        capi::require_executable(plan, libperm::ApiCall::plan_gradient);
        require_place(*plan, gradient);
        if (!plan->plan.options.checkpoint.empty())
            return kept_gradient_into(*plan, values, gradient, error_bounds, r);
        capi::Stopwatch watch;
        const libperm::CurrentCall current(plan->plan.options);
        const auto work = [&] {
            const libperm::GradientWay way = plan->gradient.way(plan->plan, plan->direct.get());
            r.seconds_plan = watch.lap();
            gradient_into(*plan, way, plan->plan.options.threads,
                          {values, static_cast<double *>(gradient), error_bounds}, r, result != nullptr);
        };
        capi::telling_interval(plan->plan.options, work, plan->plan.input, values);
        libperm::call().finish();
        r.seconds_run = watch.lap();
        r.seconds_total = r.seconds_plan + r.seconds_run;
    });
    capi::clear(unwanted);
    return status;
}

perm_status perm_plan_gradient_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                                     void *gradients, double *error_bounds, perm_result *results) {
    return guarded([&] {
        capi::ClearedOnFailure of_failure(results, count);
        capi::require_executable(plan, libperm::ApiCall::plan_gradient_batch);
        libperm::check_batch(plan->plan, values, stride, count);
        if (count == 0) return;
        require_place(*plan, gradients);
        const libperm::CurrentCall current(plan->plan.options);
        libperm::with_threads(plan->plan.options.threads, [&] {
            gradients_into(*plan, values, stride, count, static_cast<double *>(gradients), error_bounds,
                           results);
        });
        of_failure.keep();
    });
}

perm_status perm_plan_hessian_product(const perm_plan *plan, const void *values, const void *direction,
                                      void *product, double *error_bounds) {
    return guarded([&] {
        capi::require_executable(plan, libperm::ApiCall::plan_hessian_product);
        require_place(*plan, product, "product");
        const libperm::CurrentCall current(plan->plan.options);
        capi::telling_interval(
            plan->plan.options,
            [&] {
                plan->hessian.of([&] { return std::make_unique<const libperm::HessianProduct>(plan->plan); })
                    ->run(plan->plan, values, direction, static_cast<double *>(product), error_bounds);
            },
            plan->plan.input, values);
    });
}

// Probabilities of entries and of unmatched lines (lib/marginals).

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
