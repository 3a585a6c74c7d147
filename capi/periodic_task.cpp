// Terms of a periodic matrix (lib/periodic/answers/periodic_task): as a task, and at once.
#include "lib/periodic/answers/periodic_task.hpp"
#include "capi/boundary.hpp"
#include "capi/periodic_handle.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"

#include <perm.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace {

using capi::guarded;
using libperm::Error;

void fill(perm_result &result, const libperm::PeriodicPlan &plan, std::int64_t length,
          const libperm::Outcome &outcome) {
    capi::fill(result, plan.options, outcome, libperm::answer_of(outcome));
    const auto fits = [length](double each) {
        return each * static_cast<double>(length + 1) <
               static_cast<double>(std::numeric_limits<std::int64_t>::max());
    };
    result.n = fits(plan.matrix.rows) ? plan.order(length) : -1;
    result.nnz = fits(static_cast<double>(plan.matrix.entries.size())) ? plan.nnz(length) : -1;
}

const perm_periodic_plan &known(const perm_periodic_plan *plan) {
    if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
    libperm::require_counting(plan->plan.options, libperm::Call::periodic_execute);
    return *plan;
}

// Made within with_threads.
class PeriodicTask final : public perm_task {
  public:
    // The plan must outlive it.
    PeriodicTask(const perm_periodic_plan *plan, std::int64_t first, std::int64_t count)
        : plan_(known(plan)), first_(first) {
        make(count, nullptr);
    }
    // Its own.
    PeriodicTask(const capi::TaskSource &source, const perm_opts &opts)
        : own_(source.periodic.with_view(
              [&](const perm_periodic &a) { return capi::periodic_plan(&a, &opts); })),
          plan_(known(own_.get())),
          first_(source.first_term) {
        make(source.terms, &source.plan);
    }

    capi::Room room() const override { return {.results = task_->count()}; }
    void run(const perm_answer &answer) const override {
        libperm::with_threads(options().threads, [&] { run_here(answer); });
    }
    void run_here(const perm_answer &answer) const { // within with_threads
        answered(answer,
                 [&](libperm::RunControl &control) { return libperm::run_kept(*task_, options(), control); });
    }
    void combine(std::span<const std::string_view> partials, const perm_answer &answer) const override {
        libperm::with_threads(options().threads, [&] {
            answered(answer, [&](libperm::RunControl &control) {
                return libperm::combine(*task_, partials, control);
            });
        });
    }
    std::string saved() const override {
        capi::TaskSource source = plan_.source;
        source.kind = libperm::TaskIdentity::periodic;
        source.first_term = first_;
        source.terms = task_->count();
        source.plan = task_->plan();
        return source.bytes();
    }
    std::string difference(const perm_csr &) const override {
        return "a periodic matrix, and this is not its cell alone";
    }

  protected:
    const libperm::Options &options() const override { return plan_.plan.options; }
    libperm::Call shard_call() const override { return libperm::Call::periodic_execute; }
    void with_task(libperm::RunControl &, const Work &work) const override { work(*task_); }

  private:
    void make(std::int64_t count, const std::string *way) {
        call_ = std::make_unique<libperm::RunControl>(options());
        task_ = std::make_unique<libperm::PeriodicTask>(plan_.plan, first_, count, *call_,
                                                        libperm::second_run_seconds, way);
    }

    template <class Find> void answered(const perm_answer &answer, const Find &find) const {
        capi::Stopwatch watch;
        controlled([&](libperm::RunControl &control) {
            const std::vector<libperm::Outcome> found = find(control);
            const double seconds = watch.lap();
            for (std::size_t k = 0; k < found.size(); ++k) {
                control.poll();
                const auto number = static_cast<std::int64_t>(k);
                perm_result filled = PERM_RESULT_INIT;
                fill(filled, plan_.plan, first_ + number, found[k]);
                filled.seconds_run = filled.seconds_total = seconds;
                capi::write(capi::result_at(answer.results, number), filled);
            }
        });
    }

    const std::unique_ptr<perm_periodic_plan> own_; // none: the caller's
    const perm_periodic_plan &plan_;
    const std::int64_t first_;
    std::unique_ptr<const libperm::PeriodicTask> task_;
};

// Into results that are cleared.
void run_at_once(const perm_periodic_plan *plan, std::int64_t first, std::int64_t count,
                 perm_result *results) {
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = results;
    answer.count = count;
    libperm::with_threads(known(plan).plan.options.threads,
                          [&] { PeriodicTask(plan, first, count).run_here(answer); });
}

} // namespace

namespace capi {

std::unique_ptr<perm_task> periodic_task(const perm_periodic_plan *plan, std::int64_t first,
                                         std::int64_t count) {
    std::unique_ptr<perm_task> task;
    libperm::with_threads(known(plan).plan.options.threads,
                          [&] { task = std::make_unique<PeriodicTask>(plan, first, count); });
    return task;
}

std::unique_ptr<perm_task> periodic_task(const TaskSource &source, const perm_opts *opts) {
    const perm_opts all = source.options(opts);
    std::unique_ptr<perm_task> task;
    libperm::with_threads(libperm::read_options(&all).threads,
                          [&] { task = std::make_unique<PeriodicTask>(source, all); });
    return task;
}

} // namespace capi

perm_status perm_periodic_execute(const perm_periodic_plan *plan, int64_t length, perm_result *result) {
    return capi::into(result, [&](perm_result &r) {
        capi::Stopwatch watch;
        run_at_once(plan, length, 1, &r);
        r.seconds_run = r.seconds_total = watch.lap();
    });
}

perm_status perm_periodic_terms(const perm_periodic_plan *plan, int64_t first, int64_t count,
                                perm_result *results) {
    return guarded([&] {
        if (count > 0) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        if (count != 0)
            run_at_once(plan, first, count, results);
        else
            libperm::require_length(known(plan).plan, first);
        of_failure.keep();
    });
}
