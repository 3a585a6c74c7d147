// The permanent of a nonnegative matrix within a relative error, from samples of its blocks.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/estimates/sample_pieces.hpp"
#include "lib/run/call.hpp"
#include "lib/samples/walk_sampler.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

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
    // samples to see how many it will take. Throws Error when stopped by its call.
    BlockEstimate(const LogMatrix &a, std::uint64_t seed);

    // How well it is to be known, and how.
    void aim(double epsilon, double delta, EstimateMethod method);

    // Where that still pays for so many samples at most (0: as many as it takes), looks for a better order of
    // the columns; then it is to be aimed again.
    bool improve(std::int64_t most);

    double chunks() const { return chunks_; } // expected; infinite: no sample has come through
    double seconds() const;                   // of one thread
    double seconds_on(const GpuProperties &gpu) const;
    const char *method() const;
    double log_bound() const { return potential_->log_bound(); }
    std::int64_t bytes() const; // held
    double rounding() const;    // by which share of itself what is computed may be off

    // All that the sums of its samples follow from.
    std::string digest() const;

    // Its samples, `most` of them; 0: as many as it takes. It must outlive them, and be aimed no more.
    SamplePieces pieces(std::int64_t most) const;

    // told: now and then, what is found so far.
    using Told = std::function<void(const ShareFound &)>;
    ShareFound run(const SamplePieces &pieces, SampleDevices *devices, const Told &told = {}) const;

  private:
    void draw_pilot();
    void sum_chunks(std::uint64_t first, std::span<SampleSums> sums, SampleDevices *devices) const;
    bool sum_on(SampleDevices &devices, std::uint64_t first, std::span<SampleSums> sums) const;
    ShareFound nest(const SamplePieces &pieces, SampleDevices *devices, const Told &told) const;
    ShareFound reject(const SamplePieces &pieces, SampleDevices *devices, const Told &told) const;

    // Of a chunk, or of its samples until so many are successes.
    SampleSums trials(std::uint64_t chunk, double until) const;
    SampleSums trials(std::uint64_t chunk, std::span<const double> samples, double until) const;

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
