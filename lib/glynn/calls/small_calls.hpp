// Calls of small dense matrices that Glynn's sum answers: perm_compute without a plan, matrices that stand
// one behind the other, and a plan's; and what results say of them.
#pragma once

#include "lib/glynn/calls/request.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/escalation.hpp"
#include "lib/tape/tape_run.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <perm.h>

namespace libperm {

// Results' texts, for the caller to free: the same as to_text gives, sooner.
char *text_of(const TapeAnswer &answer);
char *text_of(const DenseSum &sum);

struct SmallAccount {
    std::int64_t n, nnz;
    int threads;
    double subsets, operations;
    std::size_t bytes;
    Engine engine = Engine::glynn;
};
SmallAccount account_of(const DenseSum &sum, int n, std::int64_t nnz, int threads);

// Fills in a cleared result, all but its text.
void fill(perm_result &result, const TapeAnswer &value, bool tolerance_met, const SmallAccount &account);

// perm_compute of small dense matrices: permanents by Glynn's sum, hafnians by Björklund's, in microseconds
// and without a plan.

// Fills a cleared result as perm_compute does, but for seconds and entry_rounding, and returns what it is of;
// only its text is kept. None, and nothing filled in: the general road is to answer, which knows more ways,
// and what is wrong with what was given.
std::optional<MatrixFunction> compute_small(const perm_csr *a, const perm_opts *opts, perm_result &result);

// Glynn's sum for dense matrices that stand one behind the other: numbers and their bounds, and nothing
// else.

class DenseNumbers {
  public:
    // None where the shape, the multiplicities or the options are for other roads.
    static std::optional<DenseNumbers> of(const perm_dense &a, const perm_opts *opts);

    // False: matrix k is to be computed otherwise. A matrix has the same bits in any list and on any number
    // of threads. `watch` is asked by what takes long: of several matrices at once, none that has callbacks.
    bool put(std::int64_t k, double *number, double &bound, const CallWatch &watch) const;

    double terms() const;                    // of each
    int threads() const { return threads_; } // of the call
    bool shares_threads() const;             // one matrix among them
    const SmallRequest &request() const { return request_; }

  private:
    DenseNumbers(const perm_dense &a, const SmallRequest &request);

    const perm_dense &a_;
    const SmallRequest request_;
    const int n_, threads_;
};

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
