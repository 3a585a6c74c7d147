// A plan and values in, the permanent out: the blocks of the matrix computed, their products and sums.
#pragma once

#include "lib/number/ball.hpp"
#include "lib/plan/block_product.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/results.hpp"

#include <unordered_map>

namespace libperm {

// Values by entry of the plan's pattern; the call is the whole call's. `store` (may be null): the parts that
// are known, and those that are computed. Throws Error.
Outcome execute(const Plan &plan, const Values &values, PieceStore *store = nullptr);

// What doubles can tell is told in doubles, but for a tolerance that only this rounding would miss; an exact
// fraction as the number that was asked for, unless that was exact.
void round_off(const Options &options, Outcome &outcome);

// Why these values are not computed by this plan, but by one that would be made anew for them; or null.
const char *why_planned_anew(const Plan &plan, const Values &values);

// Whether the limits refuse the plan whatever the values are, but for such as it is made anew for.
bool is_refused(const Plan &plan);

// This executes the plan itself, without what may follow it.
Outcome execute_once(const Plan &plan, const Values &values, PieceStore *store);

// The sum of products of a plan, with values: blocks are computed as the decomposition brings them, some at
// the same time, and put together in its order.

template <class Value> class Evaluation {
    using Ball = typename BallOf<Value>::type;
    using Leaf = LeafOf<Value>;

  public:
    // `run`: this run of its plan, and the parts that are known.
    Evaluation(const Plan &plan, const PieceScope &run)
        : plan_(plan),
          run_(run),
          options_(options_of_blocks(plan)),
          waiting_(&call().memory()),
          kept_(&call().memory()) {}

    Outcome run(BlockOf<Value> root); // throws Error

    // The algebra of its walk (lib/plan/block_walk.hpp): numbers are put on the stack, when they are there.
    bool block(Leaf leaf);
    void number(const Value &x) { push(ball_of(x)); }
    void multiply(std::size_t count) { push(Multiply{count}); }
    void add(std::size_t count) { push(Add{count}); }

  private:
    struct Job { // one block to be computed
        Leaf leaf;
        BlockKey key;          // empty: its number is not to be kept
        const BlockPlan *plan; // of the plan's, or null: not planned yet
        std::uint64_t number;  // among those to be computed
        Structure structure;
        Outcome outcome;
    };
    struct ResultOf { // instead of a block
        std::size_t job;
    };
    using Token = std::variant<Ball, ResultOf, Multiply, Add>;

    void push(Token token);
    Token token_of(Leaf leaf);
    void compute_jobs();
    void compute(Job &job);
    void compute_by(const BlockPlan &plan, Job &job, const PieceScope &pieces);
    void fold();

    const Plan &plan_;
    PieceScope run_;
    const Options options_;     // of blocks
    Charge waiting_, kept_;     // of the jobs, of the numbers of blocks computed before
    std::vector<Job> jobs_;     // not computed yet
    std::vector<Token> tokens_; // not folded yet
    std::vector<Ball> stack_;
    std::unordered_map<BlockKey, std::size_t> job_of_; // in jobs_
    std::unordered_map<BlockKey, Ball> known_;         // numbers of blocks computed before
    std::size_t known_bytes_ = 0;
    Outcome sums_; // counts over all blocks
};

} // namespace libperm
