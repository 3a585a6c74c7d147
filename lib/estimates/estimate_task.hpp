// What is left to be estimated of a matrix: after the reductions, the blocks that are not computed exactly in
// a moment.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/bounds/block_bounds.hpp"
#include "lib/estimates/sample_pieces.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/block_product.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"
#include "lib/run/tasks.hpp"
#include "lib/samples/walk_sampler.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

template <class Value> class BlocksLeft {
    using Ball = typename BallOf<Value>::type;

  public:
    struct Left {
        LeafOf<Value> leaf;
        std::optional<BlockPlan> plan; // of computing it exactly
    };

    // The permanent is `known` times those of `left`. Throws Error.
    BlocksLeft(const InputPattern &input, const Values &values, const Options &options);

    // Computes the block exactly where that is predicted to take less, in seconds of one thread; whether it
    // did.
    bool computed_within(double seconds, Left &one);

    // The algebra of its walk (lib/plan/block_product.hpp).
    void block(LeafOf<Value> leaf);
    void zero_block();
    void number(const Value &x);
    void divide(const mpz_class &ways) { known = known / ways; }

    Ball known;
    bool is_zero = false;
    std::vector<Left> left;
    std::int64_t blocks = 0, blocks_exact = 0;

  private:
    void compute(Left one);

    const Options options_;
    BlockValues values_;
};

// An estimate as a task, whose pieces are samples. What comes before these, what falls apart and is quick and
// how each other block is sampled, follows from the matrix, the options and the seed alone: whoever draws the
// samples, one call, shards or one that goes on from a checkpoint, finds the same.

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

class EstimateTask : public TaskOf<MatrixEstimate> {
  public:
    // By whichever method its entries allow. The options must outlive it. Throws Error, also where no
    // estimate can be had.
    static std::unique_ptr<const EstimateTask> of(InputPattern input, Values values, const Options &options,
                                                  const EstimateRequest &request);

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    void tell(const MatrixEstimate &found, KeptAbout &about) const override;
    MatrixEstimate run(PieceStore *store, const Told &told) const override;
    void run_shard(const Shard &shard, PieceStore &store) const override;

  protected:
    EstimateTask(const Options &options, const EstimateRequest &request)
        : options_(options), request_(request) {}

    // Pieces that the store (may be none) has are taken from it, others left there. devices (may be none):
    // that draw what they can. told: now and then, what is known so far.
    virtual MatrixEstimate estimate(PieceStore *store, SampleDevices *devices, const Told &told) const = 0;
    virtual const char *method() const = 0;                           // static
    virtual std::string digest_of_block(std::size_t block) const = 0; // of all that its sums follow from
    virtual std::string promise() const = 0;                          // "an estimate within 0.01 of ..."
    virtual bool may_be_on_gpu() const { return false; }
    virtual double seconds_on(const GpuProperties &) const { return seconds(); } // if so; once it is warm

    static PieceScope scope_of(std::size_t block, PieceStore *store) { return {store, {0, block, 0}}; }
    static CurrentCall for_block(std::size_t block, PieceStore *store) {
        return CurrentCall(1, scope_of(block, store));
    }

    const Options &options_;
    const EstimateRequest request_;
    std::vector<SamplePieces> pieces_; // of each block that is sampled
    std::int64_t bytes_ = 0;           // held
    MatrixEstimate known_;             // without what is sampled

  private:
    double seconds() const; // of the samples, on one thread
    SamplesDrawn drawn_where(double share) const;
    double share_unknown(PieceStore *store) const;
    std::uint64_t first_of(std::uint64_t shard, const SamplePieces &pieces) const;

    std::int64_t n_ = 0, entries_ = 0;
    std::string matrix_, wish_; // digests
};

// Of a nonnegative matrix within a relative error, times 1 or -1; of one with signs within an additive one.
std::unique_ptr<EstimateTask> nonnegative_estimate(const InputPattern &input, const Values &values, int sign,
                                                   const Options &options, const EstimateRequest &request);
std::unique_ptr<EstimateTask> additive_estimate(const InputPattern &input, const Values &values,
                                                const Options &options, const EstimateRequest &request);

} // namespace libperm
