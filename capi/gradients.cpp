// perm_plan_gradient, perm_plan_gradient_batch and perm_plan_hessian_product.
#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_handle.hpp"
#include "capi/plan_with_values.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task.hpp"
#include "capi/task_kinds.hpp"
#include "jit/text/text.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch.hpp"
#include "lib/execute/gradient_task.hpp"
#include "lib/run/naming_matrix.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/parallel.hpp"

#include <perm.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace capi {
namespace {

// The derivatives of a plan's permanent as a task.
class GradientTask final : public perm_task {
  public:
    // The plan and the values must outlive it.
    GradientTask(const perm_plan *plan, const void *values)
        : of_(plan, values, libperm::Call::plan_gradient) {
        make(nullptr);
    }

    // Its own, in the way that is named there.
    GradientTask(TaskSource source, const perm_opts *opts) : of_(source, opts, libperm::Call::plan_gradient) {
        make(&source.method);
    }

    Room room() const override {
        const std::int64_t parts = static_cast<std::int64_t>(task_->parts());
        return {.results = 1, .numbers = task_->numbers() * parts, .bounds = task_->numbers()};
    }

    void run(const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options(), control); });
    }

    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::combine(*task_, partials, control); });
    }

    std::string saved() const override {
        TaskSource source = of_.source(libperm::TaskIdentity::derivatives);
        source.method = task_->plan();
        return source.bytes();
    }

    std::string difference(const perm_csr &a) const override { return of_.difference(a); }

  protected:
    const libperm::Options &options() const override { return of_.options(); }
    libperm::Call shard_call() const override { return libperm::Call::plan_gradient; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

    void telling_interval(const std::function<void()> &work) const override {
        capi::telling_interval(options(), work, of_.plan().plan.input, of_.values());
    }

  private:
    void make(const std::string *way) {
        Stopwatch watch;
        const perm_plan &plan = of_.plan();
        call_ = std::make_unique<libperm::RunControl>(options());
        telling_interval([&] {
            task_ = std::make_unique<libperm::GradientTask>(
                libperm::GradientSource{plan.plan, plan.direct.get(), plan.gradient, of_.values()}, *call_,
                way);
        });
        seconds_plan_ = watch.lap();
    }

    // find(control): the derivatives.
    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        Stopwatch watch;
        perm_result r = PERM_RESULT_INIT;
        controlled([&](libperm::RunControl &control) {
            telling_interval([&] {
                const libperm::Derivatives found = find(control);
                std::copy(found.numbers.begin(), found.numbers.end(), answer.numbers);
                if (answer.error_bounds)
                    std::copy(found.bounds.begin(), found.bounds.end(), answer.error_bounds);
                fill(r, of_.plan().plan, found.outcome, libperm::answer_of(found.permanent, true));
                r.threads = libperm::sums_subsets(found.outcome.engine) ? options().threads : 1;
            });
        });
        r.seconds_plan = seconds_plan_;
        r.seconds_run = watch.lap();
        r.seconds_total = r.seconds_plan + r.seconds_run;
        write(*answer.results, r);
    }

    const PlanWithValues of_;
    std::unique_ptr<const libperm::GradientTask> task_;
    double seconds_plan_ = 0;
};

} // namespace

std::unique_ptr<perm_task> gradient_task(const perm_plan *plan, const void *values) {
    return std::make_unique<GradientTask>(plan, values);
}

std::unique_ptr<perm_task> gradient_task(TaskSource source, const perm_opts *opts) {
    return std::make_unique<GradientTask>(std::move(source), opts);
}

} // namespace capi

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
