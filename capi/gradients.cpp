// perm_plan_gradient, perm_plan_gradient_batch and perm_plan_hessian_product.
#include "capi/boundary.hpp"
#include "capi/gradient_task.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "jit/text/text.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch.hpp"
#include "lib/run/naming_matrix.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/parallel.hpp"

#include <perm.h>

#include <algorithm>

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
                   libperm::RunControl &control, perm_result &r, bool with_text) {
    libperm::Outcome outcome;
    const libperm::TapeAnswer answer =
        way.run(plan.plan, threads, arrays.values, arrays.gradient, arrays.error_bounds, control, outcome);
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
    capi::GradientTask(&plan, values).run(answer);
}

// Where the caller's matrices and their derivatives lie.
class GradientBatch {
  public:
    GradientBatch(const perm_plan &plan, const void *values, std::int64_t stride, double *gradients,
                  double *error_bounds, perm_result *results)
        : plan_(plan),
          values_(static_cast<const char *>(values)),
          is_complex_(plan.plan.input.value_type == PERM_VALUE_C128),
          stride_(stride * (is_complex_ ? 16 : 8)),
          gradients_(gradients),
          error_bounds_(error_bounds),
          results_(results) {}

    // All at the same time, if they are short.
    void run(std::int64_t count, libperm::RunControl &control) const {
        constexpr double short_run = 0.01; // seconds
        const double each = std::max(plan_.plan.seconds, 1e-6);
        control.begin(static_cast<double>(count), each * static_cast<double>(count));
        const bool is_short = each < short_run;
        libperm::GradientWay way = plan_.gradient.way(plan_.plan, plan_.direct.get(), control);
        if (is_short) way.on_gpu = false; // matrices of which a GPU takes one at a time
        const auto compute = [&](std::uint64_t k) {
            one(static_cast<std::int64_t>(k), way, is_short ? 1 : plan_.plan.options.threads, control);
        };
        if (is_short)
            libperm::parallel_for(static_cast<std::uint64_t>(count), compute);
        else
            for (std::int64_t k = 0; k < count; ++k) compute(static_cast<std::uint64_t>(k));
        control.finish();
    }

  private:
    void one(std::int64_t k, const libperm::GradientWay &way, int threads,
             libperm::RunControl &control) const {
        const std::int64_t entries = libperm::values_given(plan_.plan.input);
        perm_result filled = PERM_RESULT_INIT;
        libperm::naming_matrix(k, true, [&] {
            libperm::RunControl part(control, 0, libperm::RunControl::OwnMemory());
            const Arrays arrays = {values_ ? values_ + k * stride_ : nullptr,
                                   gradients_ + k * entries * (is_complex_ ? 2 : 1),
                                   error_bounds_ ? error_bounds_ + k * entries : nullptr};
            gradient_into(plan_, way, threads, arrays, part, filled, false);
        });
        if (results_) capi::write(capi::result_at(results_, k), filled);
        control.advance(1);
    }

    const perm_plan &plan_;
    const char *values_;
    bool is_complex_;
    std::int64_t stride_; // in bytes
    double *gradients_, *error_bounds_;
    perm_result *results_;
};

} // namespace

extern "C" {

perm_status perm_plan_gradient(const perm_plan *plan, const void *values, void *gradient,
                               double *error_bounds, perm_result *result) {
    perm_result unwanted = PERM_RESULT_INIT;
    const perm_status status = into(result ? result : &unwanted, [&](perm_result &r) {
        capi::require_executable(plan, libperm::Call::plan_gradient);
        require_place(*plan, gradient);
        if (!plan->plan.options.checkpoint.empty())
            return kept_gradient_into(*plan, values, gradient, error_bounds, r);
        capi::Stopwatch watch;
        libperm::RunControl control(plan->plan.options);
        const auto work = [&] {
            const libperm::GradientWay way = plan->gradient.way(plan->plan, plan->direct.get(), control);
            r.seconds_plan = watch.lap();
            gradient_into(*plan, way, plan->plan.options.threads,
                          {values, static_cast<double *>(gradient), error_bounds}, control, r,
                          result != nullptr);
        };
        capi::telling_interval(plan->plan.options, work, plan->plan.input, values);
        control.finish();
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
        capi::require_executable(plan, libperm::Call::plan_gradient_batch);
        libperm::check_batch(plan->plan, values, stride, count);
        if (count == 0) return;
        require_place(*plan, gradients);
        libperm::RunControl control(plan->plan.options);
        libperm::with_threads(plan->plan.options.threads, [&] {
            GradientBatch(*plan, values, stride, static_cast<double *>(gradients), error_bounds, results)
                .run(count, control);
        });
        of_failure.keep();
    });
}

perm_status perm_plan_hessian_product(const perm_plan *plan, const void *values, const void *direction,
                                      void *product, double *error_bounds) {
    return guarded([&] {
        capi::require_executable(plan, libperm::Call::plan_hessian_product);
        require_place(*plan, product, "product");
        libperm::RunControl control(plan->plan.options);
        capi::telling_interval(
            plan->plan.options,
            [&] {
                plan->hessian.of(plan->plan, control)
                    .run(plan->plan, values, direction, static_cast<double *>(product), error_bounds,
                         control);
            },
            plan->plan.input, values);
    });
}

} // extern "C"
