#include "capi/tasks.hpp"

#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "capi/plan_execute.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/estimates/estimate_task.hpp"
#include "lib/estimates/sample_pieces.hpp"
#include "lib/execute/batch.hpp"
#include "lib/execute/gradient_task.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/glynn/minors/dense_minors.hpp"
#include "lib/input/matrix.hpp"
#include "lib/periodic/answers/periodic_task.hpp"
#include "lib/polynomial/polynomial_task.hpp"
#include "lib/run/task_parts.hpp"
#include "lib/samples/boson/boson_task.hpp"
#include "lib/samples/sample_task.hpp"
#include "lib/tape/tape_run.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace capi {
namespace {

using libperm::ApiCall;
using libperm::Outcome;
using libperm::TaskIdentity;

template <class From, class To> void copy(const std::vector<From> &from, To *to) {
    if (to) std::copy(from.begin(), from.end(), to);
}

// fill(k, an empty result).
template <class Fill> void fill_each(const perm_answer &answer, std::size_t count, const Fill &fill) {
    for (std::size_t k = 0; k < count; ++k)
        write_filled(result_at(answer.results, static_cast<std::int64_t>(k)),
                     [&](perm_result &r) { fill(k, r); });
}

// put(what it comes to, answer).
template <class Of, class Put>
MadeTask answering(const std::shared_ptr<const Of> &task, const libperm::Options &options, const Room &room,
                   const Put &put) {
    return {task, room, [=, &options](const Parts *parts, const perm_answer &answer) {
                put(parts ? libperm::combine(*task, *parts) : libperm::run_kept(*task, options), answer);
            }};
}

MadeTask make_plan(const Given &given, const libperm::Options &options) {
    const perm_plan &plan = *given.plan;
    const void *const values = given.values;
    const auto checked = std::make_shared<const libperm::Values>(values_for(plan.plan.input, values));
    const auto task = std::make_shared<const libperm::PlanTask>(libperm::plan_in_blocks(plan.plan), *checked);
    // As perm_plan_execute has it: the quickest way answers, where it does.
    return {task, {.results = 1}, [=, &plan, &options](const Parts *parts, const perm_answer &answer) {
                const libperm::PlanTask whole(plan.plan, *checked);
                const libperm::PlanTask &of = parts ? *task : whole;
                std::optional<Outcome> outcome;
                if (parts) outcome = libperm::combine(*task, *parts);
                fill_each(answer, 1, [&](std::size_t, perm_result &r) {
                    if (!execute_directly(plan, values, r))
                        fill(r, of.of(), outcome ? *outcome : run_kept(whole, options));
                });
            }};
}

MadeTask make_batch(const Given &given, const libperm::Options &options) {
    const perm_plan &plan = *given.plan;
    const auto task = std::make_shared<const libperm::BatchTask>(libperm::BatchOf{
        libperm::plan_in_blocks(plan.plan), ways_of(plan), given.values, given.stride, given.count});
    return answering(task, options, {.results = given.count},
                     [&plan](const std::vector<libperm::BatchAnswer> &found, const perm_answer &answer) {
                         fill_each(answer, found.size(),
                                   [&](std::size_t k, perm_result &r) { fill_of_batch(r, plan, found[k]); });
                     });
}

MadeTask make_derivatives(const Given &given, const libperm::Options &options) {
    const perm_plan &plan = *given.plan;
    const auto task = std::make_shared<const libperm::GradientTask>(
        libperm::GradientSource{plan.plan, plan.direct.get(), plan.gradient, given.values}, given.way);
    const std::int64_t numbers = task->numbers(), parts = static_cast<std::int64_t>(task->parts());
    return answering(task, options, {.results = 1, .numbers = numbers * parts, .bounds = numbers},
                     [&plan](const libperm::Derivatives &found, const perm_answer &answer) {
                         copy(found.numbers, answer.numbers);
                         copy(found.bounds, answer.error_bounds);
                         fill_each(answer, 1, [&](std::size_t, perm_result &r) {
                             fill(r, plan.plan, found.outcome, libperm::answer_of(found.permanent, true));
                             r.threads =
                                 libperm::sums_subsets(found.outcome.engine) ? plan.plan.options.threads : 1;
                         });
                     });
}

void put(const libperm::MatrixEstimate &found, perm_estimated &estimate) {
    const libperm::Answer value = libperm::answer_of(libperm::TapeAnswer{found.re, found.im, {}}, false);
    estimate.re = value.re;
    estimate.im = value.im;
    estimate.mantissa_re = value.mantissa_re;
    estimate.mantissa_im = value.mantissa_im;
    estimate.exp2 = value.exp2;
    estimate.lower_mantissa = found.lower.mantissa;
    estimate.lower_exp2 = found.lower.exp2;
    estimate.upper_mantissa = found.upper.mantissa;
    estimate.upper_exp2 = found.upper.exp2;
    estimate.error_mantissa = found.error.mantissa;
    estimate.error_exp2 = found.error.exp2;
    estimate.epsilon = found.epsilon;
    estimate.delta = found.delta;
    estimate.exact = found.exact ? 1 : 0;
    estimate.additive = found.additive ? 1 : 0;
    estimate.samples = found.samples;
    estimate.accepted = found.accepted;
    estimate.method = found.method;
    estimate.blocks = found.blocks;
    estimate.blocks_exact = found.blocks_exact;
    estimate.seconds_plan = found.seconds_plan;
}

// What is known so far stands in the estimate while the call runs, and what was found when it returns.
MadeTask make_estimate(const Given &given, const libperm::Options &options) {
    const libperm::EstimateRequest request = libperm::read_request(given.wanted);
    libperm::InputPattern input = pattern_for(given.matrix);
    libperm::Values values = values_for(input, *given.matrix);
    const std::shared_ptr<const libperm::EstimateTask> task =
        libperm::EstimateTask::of(std::move(input), std::move(values), options, request);
    return {task, {.estimate = true}, [=, &options](const Parts *parts, const perm_answer &answer) {
                perm_estimated &place = *answer.estimate;
                const auto told = [&](const libperm::MatrixEstimate &found) { put(found, place); };
                try {
                    told(parts ? libperm::combine(*task, *parts, told)
                               : libperm::run_kept(*task, options, told));
                } catch (...) {
                    place = PERM_ESTIMATED_INIT;
                    throw;
                }
            }};
}

// Results by a number of entries, from 0 on.
template <class Of> MadeTask by_size(const libperm::Options &options, const std::shared_ptr<const Of> &task) {
    const bool fractions = options.precision == libperm::Precision::exact; // else all are decimals
    return answering(task, options, {.results = task->count()},
                     [=](const std::vector<Outcome> &found, const perm_answer &answer) {
                         fill_each(answer, found.size(), [&](std::size_t k, perm_result &r) {
                             fill(r, task->plan_made(), found[k], libperm::answer_of(found[k], fractions));
                         });
                     });
}

MadeTask make_matchings(const Given &given, const libperm::Options &options) {
    return by_size(options, std::make_shared<const libperm::MatchingTask>(given.matrix, options, given.way));
}

MadeTask make_polynomial(const Given &given, const libperm::Options &options) {
    return by_size(options, std::make_shared<const libperm::PolynomialTask>(given.matrix, given.linear,
                                                                            options, given.way));
}

MadeTask make_periodic(const Given &given, const libperm::Options &options) {
    const libperm::PeriodicPlan &plan = given.periodic->plan;
    const std::int64_t first = given.first;
    const auto task = std::make_shared<const libperm::PeriodicTask>(plan, first, given.count,
                                                                    libperm::second_run_seconds, given.way);
    return answering(task, options, {.results = given.count},
                     [=, &plan](const std::vector<Outcome> &found, const perm_answer &answer) {
                         fill_each(answer, found.size(), [&](std::size_t k, perm_result &r) {
                             libperm::poll(); // texts may take longer than what they tell
                             fill(r, plan.options, found[k], libperm::answer_of(found[k]));
                             const std::int64_t length = first + static_cast<std::int64_t>(k);
                             const auto fits = [length](double each) {
                                 return each * static_cast<double>(length + 1) <
                                        static_cast<double>(std::numeric_limits<std::int64_t>::max());
                             };
                             r.n = fits(plan.matrix.rows) ? plan.order(length) : -1;
                             r.nnz = fits(static_cast<double>(plan.matrix.entries.size())) ? plan.nnz(length)
                                                                                           : -1;
                         });
                     });
}

MadeTask make_minors(const Given &given, const libperm::Options &options) {
    struct WithMinors { // that the task refers to
        WithMinors(const perm_dense *a, const libperm::Options &of)
            : minors(libperm::LeftOut::minors, a), task(minors, of) {}
        const libperm::DenseMinors minors;
        const libperm::MinorsTask task;
    };
    const auto own = std::make_shared<const WithMinors>(given.dense, options);
    const std::shared_ptr<const libperm::MinorsTask> task(own, &own->task);
    const std::int64_t numbers = own->minors.numbers(),
                       parts = static_cast<std::int64_t>(own->minors.parts());
    return answering(task, options, {.numbers = numbers * parts, .bounds = numbers},
                     [](const libperm::Minors &found, const perm_answer &answer) {
                         copy(found.numbers, answer.numbers);
                         copy(found.bounds, answer.error_bounds);
                     });
}

// Whole numbers, one shot behind the other.
template <class Of> MadeTask samples(const libperm::Options &options, const std::shared_ptr<const Of> &task) {
    return answering(task, options, {.columns = task->count()},
                     [](const auto &found, const perm_answer &answer) { copy(found, answer.columns); });
}

MadeTask make_samples(const Given &given, const libperm::Options &options) {
    require_shots(given.shots);
    const libperm::InputPattern input = pattern_for(given.matrix, options.function);
    const libperm::Values values = values_for(input, *given.matrix);
    return samples(options, std::make_shared<const libperm::SampleTask>(input, values, given.shots,
                                                                        given.seed, options, given.way));
}

MadeTask make_photons(const Given &given, const libperm::Options &options) {
    return samples(
        options, std::make_shared<const libperm::BosonTask>(given.photons, given.shots, given.seed, options));
}

constexpr TaskKind kinds[] = {
    {TaskIdentity::plan, ApiCall::plan_execute, ApiCall::plan_shards, true, &perm_result::seconds_check,
     make_plan},
    {TaskIdentity::batch, ApiCall::plan_execute_batch, ApiCall::plan_shards, false, nullptr, make_batch},
    {TaskIdentity::derivatives, ApiCall::plan_gradient, ApiCall::plan_gradient, true,
     &perm_result::seconds_plan, make_derivatives},
    {TaskIdentity::estimate, ApiCall::estimate, ApiCall::estimate_shards, true, nullptr, make_estimate},
    {TaskIdentity::matchings, ApiCall::matchings, ApiCall::matchings, false, &perm_result::seconds_plan,
     make_matchings},
    {TaskIdentity::polynomial, ApiCall::polynomial, ApiCall::polynomial, false, &perm_result::seconds_plan,
     make_polynomial},
    {TaskIdentity::periodic, ApiCall::periodic_execute, ApiCall::periodic_execute, false,
     &perm_result::seconds_plan, make_periodic},
    {TaskIdentity::minors, ApiCall::sub_permanents, ApiCall::sub_permanents, false, nullptr, make_minors},
    {TaskIdentity::samples, ApiCall::sample, ApiCall::sampler_create, false, nullptr, make_samples},
    {TaskIdentity::photons, ApiCall::sample_photons, ApiCall::estimate_shards, false, nullptr, make_photons},
};

} // namespace

const TaskKind &task_kind(std::string_view name) {
    for (const TaskKind &kind : kinds)
        if (kind.name == name) return kind;
    throw libperm::Error(PERM_BAD_ARGUMENT, "the task is of a kind that there is not");
}

void require_place(const perm_estimated *estimate) {
    if (!estimate) throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the estimate is a null pointer");
    if (estimate->struct_size < sizeof(perm_estimated))
        throw libperm::Error(PERM_BAD_ARGUMENT,
                             "perm_estimated.struct_size is too small: start from PERM_ESTIMATED_INIT");
}

void require_shots(std::int64_t shots) {
    if (shots < 0 || shots > (std::int64_t{1} << 40))
        throw libperm::Error(PERM_BAD_ARGUMENT, libperm::formatted("{} shots cannot be taken", shots));
}

} // namespace capi

namespace {

libperm::Options options_of(const capi::Given &given, libperm::ApiCall call) {
    if (given.is_of_plan()) {
        capi::require_executable(given.plan, call);
        return given.plan->plan.options;
    }
    if (!given.is_periodic()) return libperm::read_options(given.opts, call);
    capi::require_executable(given.periodic, call);
    return given.periodic->plan.options;
}

} // namespace

perm_task::perm_task(const capi::Given &given)
    : given_(given), kind_(capi::task_kind(given.kind)), options_(options_of(given, kind_.call)) {
    make();
}

perm_task::perm_task(std::unique_ptr<const capi::Saved> saved)
    : saved_(std::move(saved)),
      given_(saved_->given()),
      kind_(capi::task_kind(given_.kind)),
      options_(options_of(given_, kind_.call)) {
    make();
    outlive_call();
}

void perm_task::make() {
    capi::Stopwatch watch;
    call_ = std::make_unique<libperm::Call>(options_);
    if (given_.dense) {
        dense_ = libperm::require_dense(given_.dense);
        given_.dense = &dense_;
    }
    controlled([&] { made_ = kind_.make(given_, options_); });
    seconds_made_ = watch.lap();
}

void perm_task::controlled(const std::function<void()> &work) const {
    const auto on_threads = [&] { libperm::with_threads(options_.threads, work); };
    const auto with_call = [&] {
        if (call_) {
            const libperm::PolledScope scope(call_.get());
            return on_threads();
        }
        const libperm::CurrentCall own(options_);
        on_threads();
    };
    if (!kind_.tells_interval) return with_call();
    if (given_.plan)
        capi::telling_interval(options_, with_call, given_.plan->plan.input, given_.values);
    else
        capi::telling_interval(options_, with_call, given_.matrix);
}

void perm_task::outlive_call() {
    if (!saved_ && !is_of_plan()) {
        saved_ = std::make_unique<capi::Saved>(capi::source_of(given_, made_.task->plan()), given_.opts);
        given_ = saved_->given();
        if (given_.dense) dense_ = *given_.dense;
    }
    call_.reset();
}

std::string perm_task::saved() const { return capi::source_of(given_, made_.task->plan()).bytes(); }

void perm_task::combine(capi::Parts parts, const perm_answer &answer) const {
    libperm::require_counting(options_, kind_.shards);
    answer_with(&parts, answer);
}

void perm_task::answer_with(const capi::Parts *parts, const perm_answer &answer) const {
    capi::Stopwatch watch;
    controlled([&] { made_.answer(parts, answer); });
    const double seconds = watch.lap(), total = seconds_made_ + seconds;
    if (made_.room.estimate) answer.estimate->seconds_total = total;
    for (std::int64_t k = 0; k < made_.room.results && kind_.made; ++k) {
        perm_result &result = capi::result_at(answer.results, k);
        result.*kind_.made = seconds_made_;
        result.seconds_run = seconds;
        result.seconds_total = total;
    }
}

std::string perm_task::run_shard(std::int64_t number) const {
    libperm::require_counting(options_, kind_.shards);
    std::string bytes;
    controlled([&] { bytes = libperm::run_shard(*made_.task, number); });
    return bytes;
}

std::string perm_task::explain(perm_format format) const {
    if (kind_.name == libperm::TaskIdentity::plan) return capi::explain(*given_.plan, format);
    const libperm::KeptAbout about = made_.task->about();
    const libperm::ShardCount shards = made_.task->shards();
    const std::string kind(kind_.name);
    if (!capi::is_json(format))
        return libperm::formatted("{} of a matrix of order {}, {} entries: {}, predicted to take {} on one "
                                  "thread or GPU\n{} shards of {} each\n",
                                  kind, about.n, about.entries, about.way,
                                  libperm::readable_seconds(about.seconds), shards.count,
                                  libperm::readable_seconds(shards.seconds));
    libperm::Json json{{"task", kind}, {"n", about.n}, {"nnz", about.entries}, {"method", about.way}};
    json["device"] = options_.device == libperm::Device::gpu ? "gpu" : "cpu";
    json["predicted_seconds"] = about.seconds;
    json["shards"] = shards.count;
    json["shard_seconds"] = shards.seconds;
    return json.written();
}
