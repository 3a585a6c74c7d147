#include "capi/task.hpp"

#include "capi/boundary.hpp"
#include "capi/interval_beside.hpp"
#include "capi/one_call.hpp"
#include "capi/periodic_handle.hpp"
#include "capi/plan_execute.hpp"
#include "capi/stopwatch.hpp"
#include "jit/text/text.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/dense.hpp"

#include <utility>

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
