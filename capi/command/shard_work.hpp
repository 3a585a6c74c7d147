// What the shards of a part are of, as the library has it: a task made of the part's plan and values, or that
// of an estimate, which stands in the part as the library saves it.
#pragma once

#include "options.hpp"
#include "part_file.hpp"

#include <perm.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace perm {

class ShardWork {
  public:
    // `file` is the part's name. The part must outlive it.
    ShardWork(const std::string &file, const PartFile &part, const perm_opts &opts);
    explicit ShardWork(Task estimate) : task_(std::move(estimate)) {}

    const Task &task() const { return *task_; }
    const Plan &plan() const { return *plan_; } // of a computation

    // How many shards at a time are quickest, of so many on these threads.
    int runners(std::int64_t count) const;

  private:
    std::optional<ValuesView> values_;
    std::optional<Plan> plan_;
    std::optional<Task> task_;
};

// Whether a part's plan is an estimate's task.
bool is_estimate(const PartFile &part);

// That of the options, made of the part's matrix.
Task estimate_of(const PartFile &part, const Options &options, const perm_opts &opts);

} // namespace perm
