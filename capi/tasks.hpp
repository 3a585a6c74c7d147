// The kinds of tasks, each a row of a table: how it is made of what is given, and how a caller's answer tells
// what it comes to; and the one class of all that a caller's perm_task points to.
#pragma once

#include "capi/given.hpp"
#include "lib/input/option_table.hpp"
#include "lib/input/options.hpp"
#include "lib/run/tasks.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <perm.h>
#include <span>
#include <string>
#include <string_view>

namespace capi {

// What an answer takes of the caller's.
struct Room {
    std::int64_t results = 0;
    bool estimate = false;
    std::int64_t numbers = 0, bounds = 0, columns = 0;
};

using Parts = std::span<const std::string_view>; // of shards

struct MadeTask {
    std::shared_ptr<const libperm::Task> task;
    Room room;
    // Into an answer with this room what the task comes to: at once, or from parts (else null).
    std::function<void(const Parts *, const perm_answer &)> answer;
};

struct TaskKind {
    std::string_view name;         // of its identity
    libperm::ApiCall call, shards; // whose options count, for all of it and for shards
    bool tells_interval;           // what the permanent lies between, where it is refused
    double perm_result::*made;     // where results tell how long making it took; null: they tell no times
    // All of these outlive it, but for the call. Throws Error.
    MadeTask (*make)(const Given &, const libperm::Options &);
};

const TaskKind &task_kind(std::string_view name); // throws Error where there is none

// Throw Error of a place that is none, and of so many samples.
void require_place(const perm_estimated *estimate);
void require_shots(std::int64_t shots);

} // namespace capi

struct perm_task {
  public:
    // What is given must outlive it, unless it outlives the call, as one of what was saved does. Throws
    // Error.
    explicit perm_task(const capi::Given &given);
    explicit perm_task(std::unique_ptr<const capi::Saved> saved);
    perm_task(const perm_task &) = delete;
    perm_task &operator=(const perm_task &) = delete;

    const capi::Room &room() const { return made_.room; }
    libperm::ShardCount shards() const { return made_.task->shards(); }
    std::string explain(perm_format format) const;
    std::string saved() const;

    // Into an answer that has the room.
    void run(const perm_answer &answer) const { answer_with(nullptr, answer); }
    void combine(capi::Parts parts, const perm_answer &answer) const;
    std::string run_shard(std::int64_t number) const;

    // Nothing of the caller's is needed from now on but plans and their values. The call that made it, and
    // whose limits count for what is done with it in the same call, is over.
    void outlive_call();

  private:
    void make();
    bool is_of_plan() const { return given_.is_of_plan() || given_.is_periodic(); }
    void answer_with(const capi::Parts *parts, const perm_answer &answer) const;
    // work(), of the call, on its threads; a refusal tells the interval (capi/compute.hpp).
    void controlled(const std::function<void()> &work) const;

    std::unique_ptr<const capi::Saved> saved_; // none: all is the caller's
    capi::Given given_;
    perm_dense dense_ = PERM_DENSE_INIT; // of these, as the library's task refers to it
    const capi::TaskKind &kind_;
    const libperm::Options options_;
    std::unique_ptr<libperm::Call> call_;
    capi::MadeTask made_;
    double seconds_made_ = 0;
};
