// All of an estimate that comes before its samples: what falls apart and is quick is known then, and how each
// other block is sampled. It follows from the matrix, the options and the seed alone, and whoever draws the
// samples, one call, shards or one that goes on from a checkpoint, finds the same.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/bounds/interval.hpp"
#include "lib/estimates/request.hpp"
#include "lib/estimates/sample_pieces.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/parts.hpp"
#include "lib/run/run_control.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace libperm {

// What is known of a permanent that was estimated.
struct MatrixEstimate {
    Scaled re, im;
    Scaled lower, upper;           // of the real part, with their signs
    Scaled error;                  // of additive ones: |estimate - perm| <= error
    double epsilon = 0, delta = 0; // what is guaranteed; 0: exact; epsilon infinite: additive
    bool exact = false, additive = false;
    std::int64_t samples = 0, accepted = 0;
    const char *method = "exact"; // static
    std::int64_t blocks = 0, blocks_exact = 0;
    double seconds_plan = 0;
};

class EstimatePlan {
  public:
    EstimatePlan() = default;
    EstimatePlan(const EstimatePlan &) = delete;
    EstimatePlan &operator=(const EstimatePlan &) = delete;
    virtual ~EstimatePlan() = default;

    std::string digest() const; // of all that the samples' sums follow from
    double seconds() const;     // of the samples, on one thread
    ShardCount shards() const;
    virtual const char *method() const = 0;       // static
    std::int64_t bytes() const { return bytes_; } // held

    virtual bool may_be_on_gpu() const { return false; }
    virtual double seconds_on(const GpuProperties &) const { return seconds(); } // if so; once it is warm

    // Throws Error (PERM_REFUSED_TIME) where so many seconds are above the limit.
    void refuse_if_longer(double seconds, const Options &options) const;

    // Pieces that the store (may be none) has are taken from it, others left there. devices (may be none):
    // that draw what they can. told: now and then, what is known so far.
    using Told = std::function<void(const MatrixEstimate &)>;
    MatrixEstimate run(PieceStore *store, SampleDevices *devices, RunControl &control,
                       const Told &told = {}) const;

    // Of the samples that are expected to be enough those that the store does not have.
    double share_unknown(PieceStore &store) const;

    // Leaves the shard's pieces in the store.
    void run_shard(std::int64_t number, PieceStore &store, SampleDevices *devices, RunControl &control) const;

  protected:
    virtual MatrixEstimate estimate(PieceStore *store, SampleDevices *devices, RunControl &control,
                                    const Told &told) const = 0;
    virtual std::string digest_of_block(std::size_t block) const = 0;
    virtual std::string promise() const = 0; // "an estimate within 0.01 of ..."

    static PieceScope scope_of(std::size_t block, PieceStore *store) { return {store, {0, block, 0}}; }
    static RunControl for_block(std::size_t block, PieceStore *store, RunControl &control) {
        return RunControl(control, 1, scope_of(block, store));
    }

    std::vector<SamplePieces> pieces_; // of each block that is sampled
    std::int64_t bytes_ = 0;

  private:
    std::uint64_t first_of(std::int64_t shard, const SamplePieces &pieces) const;
};

} // namespace libperm
