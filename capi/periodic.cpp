// perm_periodic_*: matrices that repeat.
#include "lib/report/periodic.hpp"
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/results.hpp"
#include "capi/stopwatch.hpp"
#include "lib/base/threads.hpp"
#include "lib/periodic/answers/answers.hpp"
#include "lib/periodic/answers/growth.hpp"

#include <perm.h>

#include <limits>
#include <memory>
#include <mutex>
#include <optional>

using capi::guarded;
using capi::into;
using libperm::Error;

struct perm_periodic_plan {
    libperm::PeriodicPlan plan;
    // Found once: a text is asked for twice, of what size it is and then what it says.
    mutable std::mutex function_mutex;
    mutable std::optional<libperm::GeneratingFunction> function;
};

namespace {

const libperm::PeriodicPlan &plan_of(const perm_periodic_plan *plan, libperm::Call call) {
    if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
    libperm::require_counting(plan->plan.options, call);
    return plan->plan;
}

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

} // namespace

perm_status perm_periodic_create(const perm_periodic *a, const perm_opts *opts, perm_periodic_plan **plan) {
    if (plan) *plan = nullptr;
    return guarded([&] {
        if (!plan) throw Error(PERM_BAD_ARGUMENT, "the place for the plan is a null pointer");
        const libperm::Options options = libperm::read_options(opts, libperm::Call::periodic_create);
        libperm::RunControl control(options);
        auto made = std::make_unique<perm_periodic_plan>();
        libperm::Charge charge;
        libperm::with_threads(options.threads, [&] {
            made->plan =
                libperm::make_periodic_plan(libperm::read_periodic(
                                                a, [&control] { control.poll(); }, &control.memory(), charge),
                                            options, control, libperm::MayBeTables::yes);
        });
        *plan = made.release();
    });
}

perm_status perm_periodic_execute(const perm_periodic_plan *plan, int64_t length, perm_result *result) {
    return into(result, [&](perm_result &r) {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::Call::periodic_execute);
        capi::Stopwatch watch;
        libperm::RunControl control(p.options);
        libperm::with_threads(p.options.threads, [&] {
            fill(r, p, length, libperm::periodic_terms(p, length, 1, control).front());
        });
        control.finish();
        r.seconds_run = r.seconds_total = watch.lap();
    });
}

perm_status perm_periodic_terms(const perm_periodic_plan *plan, int64_t first, int64_t count,
                                perm_result *results) {
    return guarded([&] {
        if (count > 0) capi::require_result(results);
        libperm::with_threads(plan ? plan->plan.options.threads : 1, [&] {
            capi::require_alike(results, count);
            for (int64_t k = 0; k < count; ++k) capi::clear(capi::result_at(results, k));
            const libperm::PeriodicPlan &p = plan_of(plan, libperm::Call::periodic_execute);
            libperm::RunControl control(p.options);
            try {
                const auto outcomes = libperm::periodic_terms(p, first, count, control);
                for (int64_t k = 0; k < count; ++k) {
                    control.poll();
                    perm_result filled = PERM_RESULT_INIT;
                    fill(filled, p, first + k, outcomes[static_cast<std::size_t>(k)]);
                    capi::write(capi::result_at(results, k), filled);
                }
            } catch (...) {
                for (int64_t k = 0; k < count; ++k) capi::clear(capi::result_at(results, k));
                throw;
            }
            control.finish();
        });
    });
}

perm_status perm_periodic_generating_function(const perm_periodic_plan *plan, perm_format format,
                                              char *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::Call::periodic_generating_function);
        const bool json = capi::is_json(format);
        const std::lock_guard lock(plan->function_mutex);
        if (!plan->function) {
            libperm::RunControl control(p.options);
            libperm::with_threads(p.options.threads,
                                  [&] { plan->function = libperm::generating_function(p, control); });
            control.finish();
        }
        capi::write_text(json ? libperm::generating_function_json(*plan->function)
                              : libperm::generating_function_text(*plan->function),
                         buffer, capacity, needed);
    });
}

perm_status perm_periodic_growth(const perm_periodic_plan *plan, double *growth, double *lower,
                                 double *upper) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::Call::periodic_growth);
        libperm::RunControl control(p.options);
        libperm::Growth found;
        libperm::with_threads(p.options.threads, [&] { found = libperm::growth_of(p, control); });
        control.finish();
        if (growth) *growth = found.value;
        if (lower) *lower = found.lower;
        if (upper) *upper = found.upper;
    });
}

perm_status perm_periodic_explain(const perm_periodic_plan *plan, perm_format format, char *buffer,
                                  size_t capacity, size_t *needed) {
    return guarded([&] {
        const libperm::PeriodicPlan &p = plan_of(plan, libperm::Call::periodic_create);
        capi::write_text(capi::is_json(format) ? libperm::periodic_json(p) : libperm::periodic_text(p),
                         buffer, capacity, needed);
    });
}

perm_status perm_periodic_destroy(perm_periodic_plan *plan) {
    delete plan;
    return PERM_OK;
}
