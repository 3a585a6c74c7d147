// A plan's shards with values, run and put together (perm_task_plan).
#pragma once

#include <perm.hpp>

#include <string>
#include <utility>
#include <vector>

inline std::vector<std::string> all_shards(const perm::Task &task) {
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    return parts;
}

inline perm::Result combined(const perm::Task &task, const std::vector<std::string> &parts) {
    return std::move(task.combine(parts).at(0));
}

inline perm::Result in_shards(const perm::Plan &plan, const void *values) {
    const perm::Task task = perm::Task::plan(plan, values);
    return combined(task, all_shards(task));
}
