// A batch as a task: its pieces are runs of matrices.
#pragma once

#include "lib/execute/batch.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/task.hpp"
#include "lib/tape/tape_run.hpp"

#include <cstdint>
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
