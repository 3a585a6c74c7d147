#include "capi/plan_task.hpp"

#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/plan_task.hpp"

#include <utility>

namespace capi {

PlanTask::PlanTask(const perm_plan *plan, const void *values)
    : of_(plan, values, libperm::Call::plan_execute) {
    check_values();
}

PlanTask::PlanTask(TaskSource source, const perm_opts *opts)
    : of_(source, opts, libperm::Call::plan_execute) {
    check_values();
}

void PlanTask::check_values() {
    Stopwatch watch;
    call_ = std::make_unique<libperm::RunControl>(options());
    checked_ = values_for(*call_, of_.plan().plan.input, of_.values());
    seconds_check_ = watch.lap();
}

void PlanTask::with_task(libperm::RunControl &control, const Work &work) const {
    const libperm::Plan &in_blocks = libperm::plan_in_blocks(of_.plan().plan, control);
    work(libperm::PlanTask(in_blocks, checked_));
}

void PlanTask::telling_interval(const std::function<void()> &work) const {
    capi::telling_interval(options(), work, of_.plan().plan.input, of_.values());
}

void PlanTask::run(const perm_answer &answer) const {
    perm_result r = PERM_RESULT_INIT;
    execute(of_.plan(), of_.values(), r);
    write(*answer.results, r);
}

void PlanTask::combine(std::span<const std::string_view> partials, const perm_answer &answer) const {
    libperm::require_counting(options(), libperm::Call::plan_shards);
    perm_result r = PERM_RESULT_INIT;
    Stopwatch watch;
    controlled([&](libperm::RunControl &control) {
        const auto work = [&](const libperm::Task &task) {
            const auto &in_blocks = static_cast<const libperm::PlanTask &>(task);
            const libperm::Outcome outcome = libperm::combine(in_blocks, partials, control);
            if (!execute_directly(of_.plan(), of_.values(), r)) // as perm_plan_execute does
                fill(r, in_blocks.of(), outcome);
        };
        telling_interval(
            [&] { libperm::with_threads(options().threads, [&] { with_task(control, work); }); });
    });
    r.seconds_check = seconds_check_;
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_check + r.seconds_run;
    write(*answer.results, r);
}

std::unique_ptr<perm_task> plan_task(const perm_plan *plan, const void *values) {
    return std::make_unique<PlanTask>(plan, values);
}

std::unique_ptr<perm_task> plan_task(TaskSource source, const perm_opts *opts) {
    return std::make_unique<PlanTask>(std::move(source), opts);
}

} // namespace capi
