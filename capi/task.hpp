// What a caller's perm_task points to: a task of the library, what it is of and how its answer is told. One
// class for all kinds, which differ in a row of a table.
#pragma once

#include "capi/task_kinds.hpp"
#include "lib/input/options.hpp"

#include <perm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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
    // work(), of the call, on its threads; a refusal tells the interval (capi/interval_beside.hpp).
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
