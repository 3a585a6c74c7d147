// The kinds of tasks: how each is made of what is given, and how a caller's answer tells what it comes to.
#pragma once

#include "capi/given.hpp"
#include "lib/input/option_table.hpp"
#include "lib/run/task.hpp"

#include <perm.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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
