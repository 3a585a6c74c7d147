// The permanent of one nonnegative block from samples.
#pragma once

#include "lib/bounds/potential.hpp"
#include "lib/estimates/mean_bets.hpp"
#include "lib/estimates/request.hpp"
#include "lib/estimates/sampler.hpp"
#include "lib/run/run_control.hpp"

#include <memory>
#include <optional>

namespace libperm {

// What the permanent is, as a share of the block's bound.
struct ShareFound {
    double mean = 0;
    MeanInterval interval; // with the probability that was asked for
    std::int64_t samples = 0, accepted = 0;
};

class BlockEstimate {
  public:
    // A matrix with a perfect matching. Looks for a good bound of it, or of its transpose, and draws some
    // samples to see how many it will take. Throws Error when stopped by its control.
    BlockEstimate(const LogMatrix &a, std::uint64_t seed, RunControl &control);

    // How well it is to be known, and how.
    void aim(double epsilon, double delta, EstimateMethod method);

    // Where that still pays, looks for a better order of the columns; then it is to be aimed again.
    bool improve(RunControl &control);

    double chunks() const { return chunks_; } // expected; infinite: no sample has come through
    double seconds() const;                   // of one thread
    const char *method() const;
    double log_bound() const { return potential_->log_bound(); }
    double rounding() const; // by which share of itself what is computed may be off

    // `most`: samples; 0: as many as it takes. Progress in chunks.
    ShareFound run(std::int64_t most, RunControl &control) const;

  private:
    void draw_pilot(RunControl &control);
    ShareFound nest(std::int64_t most, RunControl &control) const;
    ShareFound reject(std::int64_t most, RunControl &control) const;

    std::unique_ptr<Potential> potential_;
    std::unique_ptr<Sampler> sampler_; // of it
    std::uint64_t seed_, pilot_seed_;
    std::vector<double> pilot_;
    double searched_ = 0;      // seconds, for orders
    bool is_hopeless_ = false; // all samples of the pilot were 0
    double epsilon_ = 0, delta_ = 0;
    bool rejects_ = false;
    std::optional<MeanBets> bets_;
    double chunks_ = 0;
};

} // namespace libperm
