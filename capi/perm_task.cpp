// perm_task_*: whatever is computed in numbered pieces, whoever runs them.
#include "capi/boundary.hpp"
#include "capi/partials.hpp"
#include "capi/results.hpp"
#include "capi/task.hpp"
#include "capi/task_kinds.hpp"
#include "capi/task_source.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/input/matrix.hpp"

#include <perm.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using capi::guarded;
using libperm::Error;

const perm_task &known(const perm_task *task) {
    if (!task) throw Error(PERM_BAD_ARGUMENT, "the task is a null pointer");
    return *task;
}

// make() into its place.
template <class Make> perm_status made(perm_task **task, const Make &make) {
    if (task) *task = nullptr;
    return guarded([&] {
        if (!task) throw Error(PERM_BAD_ARGUMENT, "the place for the task is a null pointer");
        std::unique_ptr<perm_task> one = make();
        one->outlive_call();
        *task = one.release();
    });
}

std::unique_ptr<perm_task> loaded(std::string_view bytes, const perm_opts *opts) {
    capi::TaskSource source(bytes);
    if (source.kind == libperm::TaskIdentity::plan) return capi::plan_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::estimate) return capi::estimate_task(source, opts);
    if (source.kind == libperm::TaskIdentity::matchings) return capi::matching_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::polynomial)
        return capi::polynomial_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::derivatives)
        return capi::gradient_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::minors) return capi::minors_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::periodic) return capi::periodic_task(source, opts);
    if (source.kind == libperm::TaskIdentity::samples) return capi::sample_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::photons) return capi::photon_task(std::move(source), opts);
    if (source.kind == libperm::TaskIdentity::batch) return capi::batch_task(std::move(source), opts);
    throw Error(PERM_BAD_ARGUMENT, "the task is of a kind that there is not");
}

// The caller's answer with room for what the task comes to, cleared.
class Place {
  public:
    Place(const perm_task &task, const perm_answer *answer) {
        if (!answer) throw Error(PERM_BAD_ARGUMENT, "the answer is a null pointer");
        answer_ = libperm::read_known(*answer, sizeof(perm_answer), "perm_answer");
        const capi::Room room = task.room();
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

extern "C" {

perm_status perm_task_plan(const perm_plan *plan, const void *values, perm_task **task) {
    return made(task, [&] { return capi::plan_task(plan, values); });
}

perm_status perm_task_estimate(const perm_csr *a, const perm_opts *opts,
                               const perm_estimate_opts *estimate_opts, perm_task **task) {
    return made(task, [&] { return capi::estimate_task(a, opts, estimate_opts); });
}

perm_status perm_task_matchings(const perm_csr *a, const perm_opts *opts, perm_task **task) {
    return made(task, [&] { return capi::matching_task(a, opts); });
}

perm_status perm_task_polynomial(const perm_csr *a, const void *linear, const perm_opts *opts,
                                 perm_task **task) {
    return made(task, [&] { return capi::polynomial_task(a, linear, opts); });
}

perm_status perm_task_gradient(const perm_plan *plan, const void *values, perm_task **task) {
    return made(task, [&] { return capi::gradient_task(plan, values); });
}

perm_status perm_task_minors(const perm_dense *a, const perm_opts *opts, perm_task **task) {
    return made(task, [&] { return capi::minors_task(a, opts); });
}

perm_status perm_task_periodic(const perm_periodic_plan *plan, int64_t first, int64_t count,
                               perm_task **task) {
    return made(task, [&] { return capi::periodic_task(plan, first, count); });
}

perm_status perm_task_samples(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                              perm_task **task) {
    return made(task, [&] { return capi::sample_task(a, opts, shots, seed); });
}

perm_status perm_task_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                              perm_task **task) {
    return made(task, [&] { return capi::photon_task(a, opts, shots, seed); });
}

perm_status perm_task_batch(const perm_plan *plan, const void *values, int64_t stride, int64_t count,
                            perm_task **task) {
    return made(task, [&] { return capi::batch_task(plan, values, stride, count); });
}

perm_status perm_task_save(const perm_task *task, void *buffer, size_t capacity, size_t *needed) {
    return guarded([&] {
        const std::string bytes = known(task).saved();
        capi::write_bytes(bytes.data(), bytes.size(), buffer, capacity, needed);
    });
}

perm_status perm_task_load(const void *bytes, size_t size, const perm_opts *opts, perm_task **task) {
    return made(task, [&] {
        if (!bytes) throw Error(PERM_BAD_ARGUMENT, "the saved task is a null pointer");
        return loaded({static_cast<const char *>(bytes), size}, opts);
    });
}

perm_status perm_task_shards(const perm_task *task, int64_t *count, double *seconds, int64_t *results) {
    return guarded([&] {
        const libperm::ShardCount shards = known(task).shards();
        if (count) *count = shards.count;
        if (seconds) *seconds = shards.seconds;
        if (results) *results = task->results();
    });
}

perm_status perm_task_room(const perm_task *task, perm_answer *room) {
    return guarded([&] {
        if (!room) throw Error(PERM_BAD_ARGUMENT, "the place for the room is a null pointer");
        const capi::Room wanted = known(task).room();
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

perm_status perm_task_check_matrix(const perm_task *task, const perm_csr *a) {
    return guarded([&] {
        libperm::read_once(a); // throws what it throws
        const std::string what = known(task).difference(*a);
        if (!what.empty()) throw Error(PERM_BAD_ARGUMENT, "the task is of " + what);
    });
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
        perm_partial &place = capi::cleared(partial);
        capi::put(known(task).run_shard(number), place);
    });
}

perm_status perm_task_combine(const perm_task *task, const perm_partial *partials, int64_t count,
                              const perm_answer *answer) {
    return guarded([&] {
        Place place(known(task), answer);
        task->combine(capi::bytes_of(partials, count), place.answer());
        place.keep();
    });
}

perm_status perm_task_destroy(perm_task *task) {
    delete task;
    return PERM_OK;
}

} // extern "C"
