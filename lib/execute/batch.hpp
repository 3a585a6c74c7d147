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

// What becomes of matrix k; called by any thread, once for each unless an Error is thrown.
struct BatchSink {
    std::function<void(std::int64_t k, const DenseSum &)> glynn;
    std::function<void(std::int64_t k, const TapeAnswer &, bool on_gpu)> direct;
    std::function<void(std::int64_t k, const Outcome &)> general;
};

// The ways of a plan that look at nothing but values, or null.
struct BatchWays {
    const GlynnPlan *glynn;
    const TapePlan *direct;
    const IdleTapes &idle_tapes; // of `direct`
    bool are_named = true;       // matrices, by what is thrown: else they are the caller's one
};

// Throws Error of what is no batch of the plan's matrices.
void check_batch(const Plan &plan, const void *values, std::int64_t stride, std::int64_t count);

// Matrix k's values begin k * stride values after the first's. Those that are answered within the tolerance
// by Glynn's sum, or by the tape, take that way, many at a time, the others the plan's. Throws Error, naming
// the matrix.
void execute_batch(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                   std::int64_t count, const BatchSink &sink);

// Some of the matrices that were checked, as part of a call.
void execute_matrices(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                      NumberRange matrices, const BatchSink &sink);

// Whether matrices of the plan are computed at the same time, each on a thread.
bool is_for_threads(const Plan &plan);

// A batch as a task: its pieces are runs of matrices.

// Along the tape.
struct DirectAnswer {
    TapeAnswer answer;
    bool on_gpu = false;
};

// What a matrix of a batch came to, by whichever way.
using BatchAnswer = std::variant<DenseSum, DirectAnswer, Outcome>;

// Comes to an answer for each matrix.
class BatchTask final : public TaskOf<std::vector<BatchAnswer>> {
  public:
    // As execute_batch has them, all of which must outlive it. Reads all values. Throws Error, naming the
    // matrix.
    BatchTask(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
              std::int64_t count);

    std::int64_t count() const { return count_; } // answers

    TaskIdentity identity() const override;
    ShardCount shards() const override;
    KeptAbout about() const override;
    std::string plan() const override;
    bool is_plan(const std::string &bytes) const override;
    void require_shards() const override;
    std::vector<BatchAnswer> run(PieceStore *store, const Told &told) const override;

  private:
    const void *matrix(std::int64_t k) const;
    NumberedPieces pieces() const;
    void require_way(const BatchAnswer &answer) const; // throws Error
    std::vector<BatchAnswer> piece(NumberRange matrices) const;

    const Plan &plan_;
    const BatchWays ways_;
    const void *const values_;
    const std::int64_t stride_, count_;
    std::string digest_;             // of the values
    std::int64_t planned_anew_ = -1; // a matrix that is
};

} // namespace libperm
