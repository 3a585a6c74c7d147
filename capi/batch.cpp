// Batches (lib/execute/batch): as a task, and at once.
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "capi/plan_with_values.hpp"
#include "capi/results.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch_task.hpp"

#include <perm.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace {

perm_result filled(const perm_plan &plan, const libperm::DenseSum &sum) {
    perm_result r = PERM_RESULT_INIT;
    plan.glynn->fill(r, sum, false);
    return r;
}
perm_result filled(const perm_plan &plan, const libperm::DirectAnswer &direct) {
    perm_result r = PERM_RESULT_INIT;
    capi::fill(r, plan, direct.answer, false, direct.on_gpu);
    return r;
}
perm_result filled(const perm_plan &plan, const libperm::Outcome &outcome) {
    libperm::Answer answer = capi::answer_of(plan.plan, outcome);
    if (!outcome.wide) answer.text.clear();
    perm_result r = PERM_RESULT_INIT;
    capi::fill(r, plan.plan, outcome, answer);
    return r;
}

libperm::BatchWays ways_of(const perm_plan &plan) {
    return {plan.glynn.get(), plan.direct.get(), plan.idle_tapes};
}

class BatchTask final : public perm_task {
  public:
    // The plan and the values must outlive it.
    BatchTask(const perm_plan *plan, const void *values, std::int64_t stride, std::int64_t count)
        : of_(plan, values, libperm::Call::plan_execute_batch, {stride, count}) {
        make();
    }
    // Its own.
    BatchTask(capi::TaskSource source, const perm_opts *opts)
        : of_(source, opts, libperm::Call::plan_execute_batch) {
        make();
    }

    capi::Room room() const override { return {.results = of_.shape().count}; }
    void run(const perm_answer &answer) const override {
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options(), control); });
    }
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        libperm::require_counting(options(), libperm::Call::plan_shards);
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::combine(*task_, partials, control); });
    }
    std::string saved() const override { return of_.source(libperm::TaskIdentity::batch).bytes(); }
    std::string difference(const perm_csr &a) const override { return of_.difference(a); }

  protected:
    const libperm::Options &options() const override { return of_.options(); }
    libperm::Call shard_call() const override { return libperm::Call::plan_shards; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

  private:
    void make() {
        const perm_plan &plan = of_.plan();
        call_ = std::make_unique<libperm::RunControl>(options());
        libperm::with_threads(options().threads, [&] {
            task_ = std::make_unique<libperm::BatchTask>(libperm::plan_in_blocks(plan.plan, *call_),
                                                         ways_of(plan), of_.values(), of_.shape().stride,
                                                         of_.shape().count, *call_);
        });
    }

    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        controlled([&](libperm::RunControl &control) {
            libperm::with_threads(options().threads, [&] {
                const std::vector<libperm::BatchAnswer> found = find(control);
                for (std::size_t k = 0; k < found.size(); ++k)
                    capi::write(
                        capi::result_at(answer.results, static_cast<std::int64_t>(k)),
                        std::visit([&](const auto &one) { return filled(of_.plan(), one); }, found[k]));
            });
        });
    }

    const capi::PlanWithValues of_;
    std::unique_ptr<const libperm::BatchTask> task_;
};

// Into results of one version, which are left cleared by what is thrown.
void execute(const perm_plan *plan, const void *values, std::int64_t stride, std::int64_t count,
             perm_result *results) {
    const auto put = [&](std::int64_t k, const auto &answer) {
        perm_result &result = capi::result_at(results, k);
        const perm_result r = filled(*plan, answer);
        std::free(result.text); // that the caller left in it
        capi::write(result, r);
    };
    const libperm::BatchSink sink{[&](std::int64_t k, const libperm::DenseSum &sum) { put(k, sum); },
                                  [&](std::int64_t k, const libperm::TapeAnswer &answer, bool on_gpu) {
                                      put(k, libperm::DirectAnswer{answer, on_gpu});
                                  },
                                  [&](std::int64_t k, const libperm::Outcome &outcome) { put(k, outcome); }};
    libperm::with_threads(plan ? plan->plan.options.threads : 1, [&] {
        capi::require_alike(results, count);
        try {
            capi::require_executable(plan, libperm::Call::plan_execute_batch);
            libperm::RunControl control(plan->plan.options);
            libperm::execute_batch(plan->plan, ways_of(*plan), values, stride, count, control, sink);
        } catch (...) {
            for (std::int64_t k = 0; k < count; ++k) capi::clear(capi::result_at(results, k));
            throw;
        }
    });
}

} // namespace

namespace capi {

std::unique_ptr<perm_task> batch_task(const perm_plan *plan, const void *values, std::int64_t stride,
                                      std::int64_t count) {
    return std::make_unique<BatchTask>(plan, values, stride, count);
}

std::unique_ptr<perm_task> batch_task(TaskSource source, const perm_opts *opts) {
    return std::make_unique<BatchTask>(std::move(source), opts);
}

} // namespace capi

extern "C" perm_status perm_plan_execute_batch(const perm_plan *plan, const void *values, int64_t stride,
                                               int64_t count, perm_result *results) {
    return capi::guarded([&] {
        if (count > 0) capi::require_result(results);
        if (!plan || plan->plan.options.checkpoint.empty())
            return execute(plan, values, stride, count, results);
        capi::ClearedOnFailure of_failure(results, count);
        perm_answer answer = PERM_ANSWER_INIT;
        answer.results = results;
        answer.count = count;
        BatchTask(plan, values, stride, count).run(answer);
        of_failure.keep();
    });
}
