// A plan's work with values as a task: its pieces are those of the engines that compute its blocks.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/task.hpp"

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

} // namespace libperm
