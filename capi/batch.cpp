// perm_plan_execute_batch (lib/execute/batch).
#include "lib/execute/batch.hpp"
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "capi/plan_execute.hpp"
#include "capi/results.hpp"
#include "capi/task.hpp"
#include "lib/base/threads.hpp"

#include <perm.h>

#include <cstdint>
#include <cstdlib>

namespace {

// Into results of one version, which are left cleared by what is thrown.
void execute(const perm_plan *plan, const void *values, std::int64_t stride, std::int64_t count,
             perm_result *results) {
    const auto put = [&](std::int64_t k, const auto &answer) {
        perm_result &result = capi::result_at(results, k);
        perm_result filled = PERM_RESULT_INIT;
        capi::fill_of_batch(filled, *plan, answer);
        std::free(result.text); // that the caller left in it
        capi::write(result, filled);
    };
    const libperm::BatchSink sink{[&](std::int64_t k, const libperm::DenseSum &sum) { put(k, sum); },
                                  [&](std::int64_t k, const libperm::TapeAnswer &answer, bool on_gpu) {
                                      put(k, libperm::DirectAnswer{answer, on_gpu});
                                  },
                                  [&](std::int64_t k, const libperm::Outcome &outcome) { put(k, outcome); }};
    libperm::with_threads(plan ? plan->plan.options.threads : 1, [&] {
        capi::require_alike(results, count);
        try {
            capi::require_executable(plan, libperm::ApiCall::plan_execute_batch);
            const libperm::CurrentCall current(plan->plan.options);
            libperm::execute_batch(plan->plan, capi::ways_of(*plan), values, stride, count, sink);
        } catch (...) {
            for (std::int64_t k = 0; k < count; ++k) capi::clear(capi::result_at(results, k));
            throw;
        }
    });
}

} // namespace

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
        perm_task({.kind = libperm::TaskIdentity::batch,
                   .plan = plan,
                   .values = values,
                   .stride = stride,
                   .count = count})
            .run(answer);
        of_failure.keep();
    });
}
