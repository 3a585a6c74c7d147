// Samples of matchings as a task: its pieces are runs of shots along frontiers, and of walks of what is drawn
// by rejection.
#pragma once

#include "lib/run/task.hpp"
#include "lib/samples/sample_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// Comes to the column of each row, shot by shot.
class SampleTask final : public TaskOf<std::vector<std::int32_t>> {
  public:
    // How they are drawn is chosen here. `way`: plan() of the same task elsewhere, which goes the same; null:
    // that of the options' checkpoint, or the quickest. The options must outlive it. Throws Error.
    SampleTask(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
               const Options &options, const std::string *way = nullptr);

    std::int64_t count() const { return plan_.shots() * plan_.rows(); } // columns

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override { return plan_.way(); }
    bool is_plan(const std::string &bytes) const override { return bytes == plan_.way(); }
    std::vector<std::int32_t> run(PieceStore *store, const Told &told) const override;

  private:
    double bytes_of_columns(bool are_kept) const; // of all samples
    void require_memory(MemoryBudget &memory) const;

    const Options &options_;
    const SamplePlan plan_;
    std::string matrix_, wish_, way_; // digests
    std::int64_t n_, entries_;
};

} // namespace libperm
