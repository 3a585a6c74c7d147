// The straight road for a plan's matrices: one after the other, or a batch of them.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/run/escalation.hpp"
#include "lib/small/dense_sum.hpp"

#include <memory>

namespace libperm {

// Of full matrices, whose values stand row by row. A matrix has the same bits alone, in a batch of any size
// and on any number of threads; those of perm_compute, where that goes straight.
class StraightPlan {
  public:
    // Null if the plan's matrices are not for this.
    static std::unique_ptr<const StraightPlan> of(const Plan &plan);

    // False: the plan's other ways are to answer, which know more.
    bool run(const void *values, DenseSum &sum, const CallWatch &watch = {}) const;

    // That one matrix is computed on.
    int threads() const { return threads_; }

    // Into a cleared result. Of a batch texts tell only what a double does not.
    void fill(perm_result &result, const DenseSum &sum, bool with_text) const;

  private:
    explicit StraightPlan(const Plan &plan);

    const int n_, threads_;
    const perm_value_type type_;
    const Precision precision_;
    const Escalation escalation_;
};

} // namespace libperm
