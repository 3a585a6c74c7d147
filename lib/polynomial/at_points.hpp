// The permanents of one pattern with several numbers in x's place: a batch.
#pragma once

#include "lib/execute/batch_task.hpp"
#include "lib/plan/plan.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

class AtPoints {
  public:
    // `values`: of each point those of the entries in the order of the input's pattern, weights behind, of
    // its value_type, one point's behind the other's; it must outlive this. Throws Error.
    AtPoints(InputPattern input, const void *values, std::int64_t points, const Options &options,
             RunControl &control, const std::string *plan);

    const Plan &plan() const { return plan_; }
    const Task &task() const { return *task_; }
    double seconds() const;

    // Of a store of one shard alone: none.
    std::vector<Outcome> outcomes(PieceStore *store, RunControl &control) const;

  private:
    Plan plan_;
    IdleTapes idle_tapes_;
    std::int64_t points_;
    std::optional<BatchTask> task_;
};

} // namespace libperm
