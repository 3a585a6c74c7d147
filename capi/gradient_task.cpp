#include "capi/gradient_task.hpp"

#include "capi/interval_beside.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/threads.hpp"

#include <algorithm>
#include <utility>

namespace capi {

GradientTask::GradientTask(const perm_plan *plan, const void *values)
    : of_(plan, values, libperm::Call::plan_gradient) {
    make(nullptr);
}

GradientTask::GradientTask(TaskSource source, const perm_opts *opts)
    : of_(source, opts, libperm::Call::plan_gradient) {
    make(&source.method);
}

void GradientTask::make(const std::string *way) {
    Stopwatch watch;
    const perm_plan &plan = of_.plan();
    call_ = std::make_unique<libperm::RunControl>(options());
    telling_interval([&] {
        task_ = std::make_unique<libperm::GradientTask>(
            libperm::GradientSource{plan.plan, plan.direct.get(), plan.gradient, of_.values()}, *call_, way);
    });
    seconds_plan_ = watch.lap();
}

Room GradientTask::room() const {
    const std::int64_t parts = static_cast<std::int64_t>(task_->parts());
    return {.results = 1, .numbers = task_->numbers() * parts, .bounds = task_->numbers()};
}

std::string GradientTask::saved() const {
    TaskSource source = of_.source(libperm::TaskIdentity::derivatives);
    source.method = task_->plan();
    return source.bytes();
}

void GradientTask::telling_interval(const std::function<void()> &work) const {
    capi::telling_interval(options(), work, of_.plan().plan.input, of_.values());
}

template <class Find> void GradientTask::answered(const perm_answer &answer, const Find &find) const {
    Stopwatch watch;
    perm_result r = PERM_RESULT_INIT;
    controlled([&](libperm::RunControl &control) {
        telling_interval([&] {
            const libperm::Derivatives found = find(control);
            std::copy(found.numbers.begin(), found.numbers.end(), answer.numbers);
            if (answer.error_bounds) std::copy(found.bounds.begin(), found.bounds.end(), answer.error_bounds);
            fill(r, of_.plan().plan, found.outcome, libperm::answer_of(found.permanent, true));
            r.threads = libperm::sums_subsets(found.outcome.engine) ? options().threads : 1;
        });
    });
    r.seconds_plan = seconds_plan_;
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_plan + r.seconds_run;
    write(*answer.results, r);
}

void GradientTask::run(const perm_answer &answer) const {
    answered(answer,
             [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options(), control); });
}

void GradientTask::combine(std::span<const std::string_view> partials, const perm_answer &answer) const {
    answered(answer,
             [&](libperm::RunControl &control) { return libperm::combine(*task_, partials, control); });
}

std::unique_ptr<perm_task> gradient_task(const perm_plan *plan, const void *values) {
    return std::make_unique<GradientTask>(plan, values);
}

std::unique_ptr<perm_task> gradient_task(TaskSource source, const perm_opts *opts) {
    return std::make_unique<GradientTask>(std::move(source), opts);
}

} // namespace capi
