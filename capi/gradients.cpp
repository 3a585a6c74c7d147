// perm_plan_gradient, perm_plan_gradient_batch and perm_plan_hessian_product.
#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task.hpp"
#include "jit/text/text.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch.hpp"
#include "lib/run/call.hpp"
#include "lib/run/naming_matrix.hpp"
#include "preprocess/parallel.hpp"

#include <perm.h>

#include <algorithm>
#include <cstdint>

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

extern "C" {

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
                plan->hessian.of(plan->plan)
                    .run(plan->plan, values, direction, static_cast<double *>(product), error_bounds);
            },
            plan->plan.input, values);
    });
}

} // extern "C"
