// Many matrices of one pattern.
#pragma once

#include "lib/execute/execute.hpp"
#include "lib/glynn/calls/small_calls.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/results.hpp"
#include "lib/run/tasks.hpp"
#include "lib/tape/on_device.hpp"
#include "lib/tape/tape_run.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace libperm {

// Along the tape.
struct DirectAnswer {
    TapeAnswer answer;
    bool on_gpu = false;
};

// What a matrix of a batch came to, by whichever way.
using BatchAnswer = std::variant<DenseSum, DirectAnswer, Outcome>;

// What becomes of matrix k; called by any thread, once for each unless an Error is thrown.
using BatchSink = std::function<void(std::int64_t k, BatchAnswer &&)>;

// The ways of a plan that look at nothing but values, or null.
struct BatchWays {
    const GlynnPlan *glynn;
    const TapePlan *direct;
    const IdleTapes &idle_tapes; // of `direct`
    bool are_named = true;       // matrices, by what is thrown: else they are the caller's one
};

// Matrix k's values begin k * stride values after the first's. All outlives who has it.
struct BatchOf {
    const Plan &plan;
    BatchWays ways;
    const void *values;
    std::int64_t stride, count;

    const void *matrix(std::int64_t k) const; // its values
};

// Throws Error of what is no batch of the plan's matrices.
void check_batch(const Plan &plan, const void *values, std::int64_t stride, std::int64_t count);

// Those that are answered within the tolerance by Glynn's sum, or by the tape, take that way, many at a time,
// the others the plan's. Throws Error, naming the matrix.
void execute_batch(const BatchOf &of, const BatchSink &sink);

// Comes to an answer for each matrix.
class BatchTask final : public TaskOf<std::vector<BatchAnswer>> {
  public:
    explicit BatchTask(const BatchOf &of); // reads all values; throws Error, naming the matrix

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override;
    std::vector<BatchAnswer> run(PieceStore *store, const Told &told) const override;

  private:
    NumberedPieces pieces() const;
    void require_way(const BatchAnswer &answer) const; // throws Error
    std::vector<BatchAnswer> piece(NumberRange matrices) const;

    const BatchOf of_;
    std::string digest_;             // of the values
    std::int64_t planned_anew_ = -1; // a matrix that is
};

} // namespace libperm
