// Samples of matchings, some at a time: each with the probability that its product has in the sum over all
// (perm_sample).
#pragma once

#include "lib/samples/sample_plan.hpp"

#include <cstdint>
#include <memory>
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

} // namespace libperm
