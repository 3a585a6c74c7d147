// What is left to be estimated of a matrix: after the reductions, the blocks that are not computed exactly in
// a moment.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/block_product.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"

#include <optional>
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

} // namespace libperm
