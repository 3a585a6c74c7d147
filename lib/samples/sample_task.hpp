// Samples of matchings, some at a time: each with the probability that its product has in the sum over all
// (perm_sample).
#pragma once

#include "lib/run/tasks.hpp"
#include "lib/samples/sample_plan.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace libperm {

class MatchingSamples {
  public:
    // As SamplePlan has it; `shots` is how many there will be in all. Options and the call must outlive
    // this. Throws Error, as what follows does.
    MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                    const Options &options);

    // The next `count`, whatever was drawn at once before; after an error these again.
    void draw(std::int64_t count, std::int64_t *columns);

    std::int64_t left() const { return plan_.shots() - drawn_; }
    std::int32_t rows() const { return plan_.rows(); } // of the caller's

  private:
    void draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const;

    const SamplePlan plan_;
    const int threads_;
    Charge charge_; // of the plan, and of what walks hold
    std::int64_t drawn_ = 0;
    std::vector<std::unique_ptr<WalkSampler>> walks_;
};

// Samples of matchings as a task: its pieces are runs of shots along frontiers, and of walks of what is drawn
// by rejection.

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
