#include "capi/plan_execute.hpp"

#include "capi/caller.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/report/report.hpp"
#include "lib/saved/bytes.hpp"

#include <utility>

namespace capi {
namespace {

// Values that came with the pattern of a plan. What cannot be computed with is no help, but no fault either.
libperm::Values hints(const libperm::InputPattern &input, const perm_csr &a) {
    if (!a.values || input.value_type == PERM_VALUE_PATTERN) return {};
    try {
        return values_for(input, a);
    } catch (const libperm::Error &error) {
        if (error.status() != PERM_BAD_MATRIX || input.pattern.one_sided) throw;
        return {};
    }
}

} // namespace

void fill(perm_result &result, const perm_plan &plan, const libperm::TapeAnswer &answer, bool with_text,
          bool on_gpu) {
    fill(result, plan.plan, plan.direct->outcome_of(answer, on_gpu), libperm::answer_of(answer, with_text));
    result.threads = 1;
}

libperm::BatchWays ways_of(const perm_plan &plan) {
    return {plan.glynn.get(), plan.direct.get(), plan.idle_tapes};
}

void fill_of_batch(perm_result &result, const perm_plan &plan, const libperm::BatchAnswer &answer) {
    if (const auto *sum = std::get_if<libperm::DenseSum>(&answer))
        return plan.glynn->fill(result, *sum, false);
    if (const auto *direct = std::get_if<libperm::DirectAnswer>(&answer))
        return fill(result, plan, direct->answer, false, direct->on_gpu);
    const auto &outcome = std::get<libperm::Outcome>(answer);
    libperm::Answer written = answer_of(plan.plan, outcome);
    if (!outcome.wide) written.text.clear();
    fill(result, plan.plan, outcome, written);
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

std::unique_ptr<perm_plan> create_plan(const perm_csr *a, const perm_opts *opts) {
    Stopwatch watch;
    const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::plan_create);
    auto made = std::make_unique<perm_plan>();
    const libperm::CurrentCall current(options);
    libperm::InputPattern input = pattern_for(a, options.function);
    const libperm::Values values = hints(input, *a);
    made->seconds_check = watch.lap();
    libperm::with_threads(options.threads, [&] {
        made->plan = libperm::make_kept_plan(std::move(input), options, values);
        libperm::TapePlan::order(made->plan);
        made->glynn = libperm::GlynnPlan::of(made->plan);
        made->direct = libperm::TapePlan::of(made->plan);
        made->plan.once = way_beside_plan(a, options, made->plan);
    });
    made->seconds_plan = watch.lap();
    return made;
}

std::unique_ptr<perm_plan> load_plan(const std::string &bytes, const perm_opts *opts) {
    auto made = std::make_unique<perm_plan>();
    made->plan = libperm::plan_of(bytes, libperm::read_options(opts, libperm::ApiCall::plan_load));
    const libperm::CurrentCall current(made->plan.options);
    made->glynn = libperm::GlynnPlan::of(made->plan);
    made->direct = libperm::TapePlan::of(made->plan);
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
    const libperm::CurrentCall current(options);
    const libperm::Values checked = values_for(plan.plan.input, values);
    r.seconds_check = watch.lap();
    const auto work = [&] {
        libperm::with_threads(options.threads, [&] {
            fill(r, plan.plan, run_kept(libperm::PlanTask(plan.plan, checked), options));
        });
    };
    telling_interval(options, work, plan.plan.input, values);
    r.seconds_run = watch.lap();
    r.seconds_total = r.seconds_check + r.seconds_run;
}

} // namespace capi
