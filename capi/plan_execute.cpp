#include "capi/plan_execute.hpp"

#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/report/report.hpp"
#include "lib/saved/bytes.hpp"

namespace capi {

void fill(perm_result &result, const perm_plan &plan, const libperm::TapeAnswer &answer, bool with_text,
          bool on_gpu) {
    fill(result, plan.plan, plan.direct->outcome_of(answer, on_gpu), libperm::answer_of(answer, with_text));
    result.threads = 1;
}

bool execute_directly(const perm_plan &plan, const void *values, perm_result &result) {
    if (!values) return false;
    if (plan.glynn) {
        libperm::DenseSum sum;
        if (plan.glynn->run(values, sum, plan.plan.options)) {
            plan.glynn->fill(result, sum, true);
            return true;
        }
    }
    if (!plan.direct || plan.plan.options.device == libperm::Device::gpu) return false;
    libperm::TapeAnswer answer;
    for (const bool dd : plan.direct->escalation().of_tape())
        if (plan.direct->run({&values, 1}, dd, &answer) && plan.direct->is_enough(answer)) {
            fill(result, plan, answer, true);
            return true;
        }
    return false;
}

std::unique_ptr<perm_plan> load_plan(const TaskSource &source, const perm_opts *opts) {
    auto made = std::make_unique<perm_plan>();
    made->plan = libperm::plan_of(source.plan, libperm::read_options(opts, libperm::Call::plan_load));
    libperm::RunControl control(made->plan.options);
    made->glynn = libperm::GlynnPlan::of(made->plan);
    made->direct = libperm::TapePlan::of(made->plan, control);
    return made;
}

std::string explain(const perm_plan &plan, perm_format format) {
    const libperm::GradientForecast gradient = plan.gradient.forecast(plan.plan, plan.direct.get());
    const bool is_taken = plan.plan.options.device != libperm::Device::gpu;
    const libperm::TapePlan *tape = is_taken ? plan.direct.get() : nullptr;
    return format == PERM_FORMAT_PICTURE ? libperm::picture_json(plan.plan, gradient, tape)
           : is_json(format)             ? libperm::explain_json(plan.plan, gradient, tape)
                                         : libperm::explain_text(plan.plan, gradient, tape);
}

void execute(const perm_plan &plan, const void *values, perm_result &r) {
    Stopwatch watch;
    if (execute_directly(plan, values, r)) {
        r.seconds_run = r.seconds_total = watch.lap();
        return;
    }
    const libperm::Options &options = plan.plan.options;
    libperm::RunControl control(options);
    const libperm::Values checked = values_for(control, plan.plan.input, values);
    r.seconds_check = watch.lap();
    const auto work = [&] {
        libperm::with_threads(options.threads, [&] {
            fill(r, plan.plan, run_kept(libperm::PlanTask(plan.plan, checked), options, control));
        });
    };
    telling_interval(options, work, plan.plan.input, values);
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_check + r.seconds_run;
}

} // namespace capi
