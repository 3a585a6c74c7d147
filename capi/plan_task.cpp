#include "capi/plan_task.hpp"

#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task_kinds.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/plan_task.hpp"

#include <utility>

namespace capi {
namespace {

const perm_plan *executable(const perm_plan *plan, libperm::Call call) {
    require_executable(plan, call);
    return plan;
}

} // namespace

PlanTask::PlanTask(const perm_plan *plan, const void *values, libperm::Call call)
    : plan_(executable(plan, call)), values_(values) {
    check_values();
}

PlanTask::PlanTask(TaskSource source, const perm_opts *opts)
    : own_(load_plan(source, opts)),
      plan_(executable(own_.get(), libperm::Call::plan_execute)),
      given_(std::move(source.values)),
      values_(given_.data()) {
    const libperm::InputPattern &input = plan_->plan.input;
    if (!given_.are(libperm::values_given(input), input.value_type))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "the saved task has not the values of its plan's matrix: load a plan that was "
                             "saved alone with perm_plan_load, and make a task of it with values");
    check_values();
}

void PlanTask::check_values() {
    Stopwatch watch;
    call_ = std::make_unique<libperm::RunControl>(options());
    checked_ = values_for(*call_, plan_->plan.input, values_);
    seconds_check_ = watch.lap();
}

void PlanTask::with_task(libperm::RunControl &control, const Work &work) const {
    const libperm::Plan &in_blocks = libperm::plan_in_blocks(plan_->plan, control);
    work(libperm::PlanTask(in_blocks, checked_));
}

void PlanTask::telling_interval(const std::function<void()> &work) const {
    capi::telling_interval(options(), work, plan_->plan.input, values_);
}

void PlanTask::run(const perm_answer &answer) const {
    perm_result r = PERM_RESULT_INIT;
    execute(*plan_, values_, r);
    write(*answer.results, r);
}

void PlanTask::combine(std::span<const std::string_view> partials, const perm_answer &answer) const {
    perm_result r = PERM_RESULT_INIT;
    combine(partials, r);
    write(*answer.results, r);
}

void PlanTask::combine(std::span<const std::string_view> partials, perm_result &r) const {
    libperm::require_counting(options(), libperm::Call::plan_combine);
    Stopwatch watch;
    controlled([&](libperm::RunControl &control) {
        const auto work = [&](const libperm::Task &task) {
            const auto &in_blocks = static_cast<const libperm::PlanTask &>(task);
            const libperm::Outcome outcome = libperm::combine(in_blocks, partials, control);
            if (!execute_directly(*plan_, values_, r)) // as perm_plan_execute does
                fill(r, in_blocks.of(), outcome);
        };
        telling_interval(
            [&] { libperm::with_threads(options().threads, [&] { with_task(control, work); }); });
    });
    r.seconds_check = seconds_check_;
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_check + r.seconds_run;
}

std::string PlanTask::difference(const perm_csr &a) const {
    const libperm::InputPattern &own = plan_->plan.input, input = libperm::read_pattern(&a);
    if (const char *what = libperm::difference(own, input))
        return libperm::formatted("another matrix: the {} differ", what);
    const auto numbers = [&](const void *values) {
        return libperm::written(GivenNumbers(values, libperm::values_given(own), own.value_type));
    };
    const libperm::GivenValues values(input, a);
    return numbers(values.data()) == numbers(values_) ? "" : "other values";
}

std::string PlanTask::saved() const {
    TaskSource source(plan_->plan);
    const libperm::InputPattern &input = plan_->plan.input;
    source.values = GivenNumbers(values_, libperm::values_given(input), input.value_type);
    return source.bytes();
}

std::unique_ptr<perm_task> plan_task(const perm_plan *plan, const void *values) {
    return std::make_unique<PlanTask>(plan, values, libperm::Call::plan_execute);
}

std::unique_ptr<perm_task> plan_task(TaskSource source, const perm_opts *opts) {
    return std::make_unique<PlanTask>(std::move(source), opts);
}

} // namespace capi
