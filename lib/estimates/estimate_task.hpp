// An estimate as a task: its pieces are samples, and whoever draws them plans the same.
#pragma once

#include "lib/estimates/estimate_plan.hpp"
#include "lib/run/task.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace libperm {

class EstimateTask final : public TaskOf<MatrixEstimate> {
  public:
    // Plans it. The options must outlive it.
    EstimateTask(InputPattern input, Values values, const Options &options, const EstimateRequest &request,
                 RunControl &control);

    TaskIdentity identity() const override;
    ShardCount shards() const override { return plan_->shards(); }
    KeptAbout about() const override;
    void tell(const MatrixEstimate &found, KeptAbout &about) const override;
    MatrixEstimate run(PieceStore *store, RunControl &control, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store, RunControl &control) const override;

  private:
    const Options &options_;
    std::int64_t n_ = 0, entries_ = 0;
    std::string matrix_, wish_; // digests
    std::unique_ptr<const EstimatePlan> plan_;
};

} // namespace libperm
