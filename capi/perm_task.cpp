// perm_task_*: whatever is computed in numbered pieces, whoever runs them.

#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "capi/given.hpp"
#include "capi/plan_execute.hpp"
#include "capi/tasks.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/batch.hpp"
#include "lib/execute/execute.hpp"
#include "lib/input/option_table.hpp"
#include "lib/low_rank/product_task.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <perm.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using capi::guarded;
using libperm::Error;
using libperm::TaskIdentity;

const perm_task &known(const perm_task *task) {
    if (!task) throw Error(PERM_BAD_ARGUMENT, "the task is a null pointer");
    return *task;
}

// Partial results as callers have them: these throw Error for null pointers and structs of no version.
void require_version(const perm_partial &partial) {
    if (partial.struct_size < sizeof(perm_partial))
        throw Error(PERM_BAD_ARGUMENT, "perm_partial.struct_size is too small: start from PERM_PARTIAL_INIT");
}

void clear(perm_partial &partial) {
    require_version(partial);
    std::free(partial.bytes);
    partial.bytes = nullptr;
    partial.size = 0;
}

perm_partial &cleared(perm_partial *partial) {
    if (!partial) throw Error(PERM_BAD_ARGUMENT, "the place for the partial result is a null pointer");
    clear(*partial);
    return *partial;
}

std::vector<std::string_view> bytes_of(const perm_partial *partials, std::int64_t count) {
    if (count < 0 || (count > 0 && !partials))
        throw Error(PERM_BAD_ARGUMENT, "the partial results are a null pointer, or less than none");
    std::vector<std::string_view> bytes;
    for (std::int64_t k = 0; k < count; ++k) {
        // The caller's may be of another version.
        const auto &partial = *reinterpret_cast<const perm_partial *>(
            reinterpret_cast<const char *>(partials) + static_cast<std::size_t>(k) * partials->struct_size);
        require_version(partial);
        if (!partial.bytes && partial.size > 0)
            throw Error(PERM_BAD_ARGUMENT, "a partial result is a null pointer");
        bytes.emplace_back(static_cast<const char *>(partial.bytes), partial.size);
    }
    return bytes;
}

perm_status made(perm_task **task, const capi::Given &given) {
    return capi::made(task, "task", [&] {
        auto one = std::make_unique<perm_task>(given);
        one->outlive_call();
        return one;
    });
}

// The caller's answer with room for what the task comes to, cleared.
class Place {
  public:
    Place(const perm_task &task, const perm_answer *answer) {
        if (!answer) throw Error(PERM_BAD_ARGUMENT, "the answer is a null pointer");
        answer_ = libperm::read_known(*answer, sizeof(perm_answer), "perm_answer");
        const capi::Room &room = task.room();
        if (room.estimate) capi::require_place(answer_.estimate);
        require(answer_.count, room.results, "results");
        require(answer_.numbers_count, room.numbers, "numbers", answer_.numbers);
        require(answer_.columns_count, room.columns, "columns", answer_.columns);
        if (answer_.error_bounds) require(answer_.bounds_count, room.bounds, "bounds");
        if (room.results == 0) return;
        capi::require_result(answer_.results);
        cleared_.emplace(answer_.results, answer_.count);
    }
    const perm_answer &answer() const { return answer_; }
    void keep() {
        if (cleared_) cleared_->keep();
    }

  private:
    static void require(std::int64_t given, std::int64_t wanted, const char *what) {
        if (given != wanted && wanted > 0)
            throw Error(PERM_BAD_ARGUMENT,
                        libperm::formatted("the answer has room for {} {}, and the task comes to {}", given,
                                           what, wanted));
    }
    static void require(std::int64_t given, std::int64_t wanted, const char *what, const void *place) {
        require(given, wanted, what);
        if (wanted > 0 && !place)
            throw Error(PERM_BAD_ARGUMENT,
                        libperm::formatted("the place for the {} is a null pointer", what));
    }

    perm_answer answer_;
    std::optional<capi::ClearedOnFailure> cleared_;
};

} // namespace

perm_status perm_task_plan(const perm_plan *plan, const void *values, perm_task **task) {
    return made(task, {.kind = TaskIdentity::plan, .plan = plan, .values = values});
}

perm_status perm_task_estimate(const perm_csr *a, const perm_opts *opts,
                               const perm_estimate_opts *estimate_opts, perm_task **task) {
    return made(task, {.kind = TaskIdentity::estimate, .opts = opts, .matrix = a, .wanted = estimate_opts});
}

perm_status perm_task_matchings(const perm_csr *a, const perm_opts *opts, perm_task **task) {
    return made(task, {.kind = TaskIdentity::matchings, .opts = opts, .matrix = a});
}

perm_status perm_task_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts,
                                 perm_task **task) {
    return made(task, {.kind = TaskIdentity::polynomial, .opts = opts, .matrix = a, .linear = linear});
}

perm_status perm_task_gradient(const perm_plan *plan, const void *values, perm_task **task) {
    return made(task, {.kind = TaskIdentity::derivatives, .plan = plan, .values = values});
}

perm_status perm_task_minors(const perm_dense *a, const perm_opts *opts, perm_task **task) {
    return made(task, {.kind = TaskIdentity::minors, .opts = opts, .dense = a});
}

perm_status perm_task_periodic(const perm_periodic_plan *plan, int64_t first, int64_t count,
                               perm_task **task) {
    return made(task, {.kind = TaskIdentity::periodic, .count = count, .periodic = plan, .first = first});
}

perm_status perm_task_samples(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                              perm_task **task) {
    return made(task,
                {.kind = TaskIdentity::samples, .opts = opts, .matrix = a, .shots = shots, .seed = seed});
}

perm_status perm_task_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                              perm_task **task) {
    return made(task,
                {.kind = TaskIdentity::photons, .opts = opts, .photons = a, .shots = shots, .seed = seed});
}

perm_status perm_task_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                            perm_task **task) {
    return made(
        task,
        {.kind = TaskIdentity::batch, .plan = plan, .values = values, .stride = stride, .count = count});
}

perm_status perm_task_save(const perm_task *task, void *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        const std::string bytes = known(task).saved();
        capi::write_bytes(bytes.data(), bytes.size(), buffer, capacity, needed);
    });
}

perm_status perm_task_load(const void *bytes, size_t size, const perm_opts *opts, perm_task **task) {
    return capi::made(task, "task", [&] {
        if (!bytes) throw Error(PERM_BAD_ARGUMENT, "the saved task is a null pointer");
        capi::TaskSource source(std::string_view(static_cast<const char *>(bytes), size));
        return std::make_unique<perm_task>(std::make_unique<capi::Saved>(std::move(source), opts));
    });
}

perm_status perm_task_shards(const perm_task *task, int64_t *count, double *seconds, int64_t *results) {
    return guarded([&] {
        const libperm::ShardCount shards = known(task).shards();
        if (count) *count = shards.count;
        if (seconds) *seconds = shards.seconds;
        if (results) *results = task->room().results;
    });
}

perm_status perm_task_room(const perm_task *task, perm_answer *room) {
    return guarded([&] {
        if (!room) throw Error(PERM_BAD_ARGUMENT, "the place for the room is a null pointer");
        const capi::Room &wanted = known(task).room();
        perm_answer counts = libperm::read_known(*room, sizeof(std::size_t), "perm_answer");
        const std::size_t size = counts.struct_size;
        counts = PERM_ANSWER_INIT;
        counts.struct_size = size;
        counts.count = wanted.results;
        counts.numbers_count = wanted.numbers;
        counts.bounds_count = wanted.bounds;
        counts.columns_count = wanted.columns;
        std::memcpy(static_cast<void *>(room), &counts, std::min(size, sizeof counts));
    });
}

perm_status perm_task_explain(const perm_task *task, perm_format format, char *buffer, size_t capacity,
                              size_t *needed) {
    return guarded([&] { capi::write_text(known(task).explain(format), buffer, capacity, needed); });
}

perm_status perm_task_run(const perm_task *task, const perm_answer *answer) {
    return guarded([&] {
        Place place(known(task), answer);
        task->run(place.answer());
        place.keep();
    });
}

perm_status perm_task_run_shard(const perm_task *task, int64_t number, perm_partial *partial) {
    return guarded([&] {
        perm_partial &place = cleared(partial);
        const std::string bytes = known(task).run_shard(number);
        place.bytes = capi::copy_of(bytes);
        place.size = bytes.size();
    });
}

perm_status perm_task_combine(const perm_task *task, const perm_partial *partials, int64_t count,
                              const perm_answer *answer) {
    return guarded([&] {
        Place place(known(task), answer);
        task->combine(bytes_of(partials, count), place.answer());
        place.keep();
    });
}

perm_status perm_partial_clear(perm_partial *partial) {
    if (!partial) return PERM_OK;
    return guarded([&] { clear(*partial); });
}

perm_status perm_task_destroy(perm_task *task) {
    delete task;
    return PERM_OK;
}

// What is a task, made and run in one call.

namespace {

perm_answer into_results(perm_result *results, std::int64_t count) {
    perm_answer answer = PERM_ANSWER_INIT;
    answer.results = results;
    answer.count = count;
    return answer;
}

// `count` results, as many as there are, which are left cleared by what is thrown. `what` there are:
// "coefficients".
perm_status by_size(const capi::Given &given, std::int64_t count, perm_result *results, const char *what) {
    return guarded([&] {
        if (count < 1)
            throw Error(PERM_BAD_ARGUMENT,
                        libperm::formatted("count is {}: of {} there is one at least", count, what));
        if (!results) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        const perm_task task(given);
        if (count != task.room().results)
            throw Error(PERM_BAD_ARGUMENT, libperm::formatted("count is {}: of this matrix there are {} {}",
                                                              count, task.room().results, what));
        task.run(into_results(results, count));
        of_failure.keep();
    });
}

} // namespace

perm_status perm_estimate(const perm_csr *a, const perm_opts *opts, const perm_estimate_opts *estimate_opts,
                          perm_estimated *estimate) {
    return guarded([&] {
        capi::require_place(estimate);
        *estimate = PERM_ESTIMATED_INIT;
        perm_answer answer = PERM_ANSWER_INIT;
        answer.estimate = estimate;
        perm_task({.kind = TaskIdentity::estimate, .opts = opts, .matrix = a, .wanted = estimate_opts})
            .run(answer);
    });
}

perm_status perm_compute_product(const perm_factors *a, const perm_opts *opts, perm_result *result) {
    return capi::into(result, [&](perm_result &r) {
        capi::Stopwatch watch;
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::compute_product);
        const libperm::CurrentCall current(options);
        libperm::with_threads(options.threads, [&] {
            const libperm::ProductTask task(a, options);
            r.seconds_check = watch.lap();
            libperm::Outcome outcome = libperm::run_kept(task, options);
            libperm::round_off(options, outcome);
            capi::fill(r, options, outcome, libperm::answer_of(outcome));
            r.n = task.n();
            r.nnz = task.entries();
            r.seconds_run = watch.lap();
        });
        r.seconds_total = r.seconds_check + r.seconds_run;
    });
}

perm_status perm_matchings(const perm_csr *a, const perm_opts *opts, int64_t count, perm_result *results) {
    return by_size({.kind = TaskIdentity::matchings, .opts = opts, .matrix = a}, count, results,
                   "numbers of matchings");
}

perm_status perm_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts, int64_t count,
                            perm_result *results) {
    return by_size({.kind = TaskIdentity::polynomial, .opts = opts, .matrix = a, .linear = linear}, count,
                   results, "coefficients");
}

perm_status perm_periodic_execute(const perm_periodic_plan *plan, int64_t length, perm_result *result) {
    return perm_periodic_terms(plan, length, 1, result);
}

perm_status perm_periodic_terms(const perm_periodic_plan *plan, int64_t first, int64_t count,
                                perm_result *results) {
    return guarded([&] {
        if (count > 0) capi::require_result(results);
        capi::ClearedOnFailure of_failure(results, count);
        if (count == 0) {
            capi::require_executable(plan, libperm::ApiCall::periodic_execute);
            return libperm::require_length(plan->plan, first);
        }
        perm_task({.kind = TaskIdentity::periodic, .count = count, .periodic = plan, .first = first})
            .run(into_results(results, count));
        of_failure.keep();
    });
}

// perm_plan_execute_batch (lib/execute/batch).

namespace {

// Into results of one version, which are left cleared by what is thrown.
void execute(const perm_plan *plan, const void *values, std::int64_t stride, std::int64_t count,
             perm_result *results) {
    const libperm::BatchSink put = [&](std::int64_t k, const libperm::BatchAnswer &answer) {
        perm_result &result = capi::result_at(results, k);
        perm_result filled = PERM_RESULT_INIT;
        capi::fill_of_batch(filled, *plan, answer);
        std::free(result.text); // that the caller left in it
        capi::write(result, filled);
    };
    libperm::with_threads(plan ? plan->plan.options.threads : 1, [&] {
        capi::require_alike(results, count);
        try {
            capi::require_executable(plan, libperm::ApiCall::plan_execute_batch);
            const libperm::CurrentCall current(plan->plan.options);
            libperm::execute_batch({plan->plan, capi::ways_of(*plan), values, stride, count}, put);
        } catch (...) {
            for (std::int64_t k = 0; k < count; ++k) capi::clear(capi::result_at(results, k));
            throw;
        }
    });
}

} // namespace

perm_status perm_plan_execute_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                                    perm_result *results) {
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
