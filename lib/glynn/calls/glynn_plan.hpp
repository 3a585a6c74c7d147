// Glynn's sum for a plan's matrices, Björklund's for its graphs: one after the other, or a batch of them.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/escalation.hpp"

#include <memory>

namespace libperm {

// The matrices are full, and their values stand row by row. A matrix has the same bits alone, in a batch of
// any size and on any number of threads; those of perm_compute, where that takes this sum too.
class GlynnPlan {
  public:
    // Gives null if the plan's matrices are not for this sum.
    static std::unique_ptr<const GlynnPlan> of(const Plan &plan);

    // False: the plan's other ways are to answer, which know more.
    bool run(const void *values, DenseSum &sum, const CallWatch &watch = {}) const;

    // How many threads compute one matrix.
    int threads() const { return threads_; }

    // The result is a cleared one. In a batch texts tell only what a double does not.
    void fill(perm_result &result, const DenseSum &sum, bool with_text) const;

  private:
    explicit GlynnPlan(const Plan &plan);

    const int n_, threads_;
    const std::int64_t nnz_;
    const perm_value_type type_;
    const MatrixFunction function_;
    const Precision precision_;
    const double tolerance_;
    const Escalation escalation_;
};

} // namespace libperm
