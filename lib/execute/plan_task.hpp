// A plan's work with values as a task: its pieces are those of the engines that compute its blocks.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/results.hpp"
#include "lib/run/tasks.hpp"

#include <string>

namespace libperm {

// Follows from the plan alone.
ShardCount shards_of(const Plan &plan);

class PlanTask final : public TaskOf<Outcome> {
  public:
    // Both must outlive it.
    PlanTask(const Plan &plan, const Values &values) : plan_(plan), values_(values) {}

    const Plan &of() const { return plan_; }

    TaskIdentity identity() const override;
    ShardCount shards() const override { return shards_of(plan_); }
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override;
    Outcome run(PieceStore *store, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store) const override;

  private:
    const Plan &plan_;
    const Values &values_;
};

// What stands in checkpoints (run/tasks.hpp): the plan to go on with, as another machine might make
// another, and how far a task has come.

// make_plan, or the plan of the checkpoint that the options name, if they name one. Throws Error
// (PERM_BAD_OPTION) where that is of another matrix, or of another kind of task.
Plan make_kept_plan(InputPattern input, const Options &options, const Values &values,
                    GpuStart start = GpuStart::awaited);

// Of the file, of a computation or an estimate, for people or as JSON.
std::string checkpoint_text(const std::string &file);
std::string checkpoint_json(const std::string &file);

} // namespace libperm
