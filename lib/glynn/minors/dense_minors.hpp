// The caller's dense matrices, and what is asked of them: each straight from its values.
#pragma once

#include "lib/glynn/minors/dense_matrices.hpp"
#include "lib/glynn/minors/left_out_on_device.hpp"
#include "lib/input/options.hpp"
#include "lib/run/parts.hpp"
#include "lib/run/run_control.hpp"

#include <perm.h>

#include <cstdint>
#include <vector>

namespace libperm {

class GradientSums;

// Where they go, as perm.h tells; null: not wanted, but for the numbers.
struct MinorPlaces {
    double *numbers, *bounds;
    double *permanents = nullptr, *permanent_bounds = nullptr; // with derivatives
};

class DenseMinors {
  public:
    virtual ~DenseMinors() = default;

    LeftOut what() const { return shape_.what; }
    std::int64_t count() const { return matrices_.count(); } // of matrices
    virtual std::int64_t numbers() const = 0;                // of all, complex ones counted once
    std::size_t parts() const { return matrices_.parts(); }  // of a number
    ShardCount shards() const;
    const DenseMatrices &matrices() const { return matrices_; }

    // Sums that the control's store has are taken from it. Throws Error.
    virtual void run(const Options &options, RunControl &control, const MinorPlaces &to) const = 0;

  protected:
    explicit DenseMinors(const perm_dense *a) : matrices_(a) {}

    const DenseMatrices matrices_;
    LeftOutShape shape_{};
    double seconds_ = 0;
};

// perm_sub_permanents.
class SubPermanents final : public DenseMinors {
  public:
    // The matrices stay. Throws Error.
    explicit SubPermanents(const perm_dense *a);
    std::int64_t numbers() const override { return count() * lines_; }
    void run(const Options &options, RunControl &control, const MinorPlaces &to) const override;

  private:
    DenseSide left_, summed_;
    std::int64_t lines_ = 0; // of the longer way, as they were written
    bool is_by_rows_ = false;
};

// perm_gradients.
class DenseGradients final : public DenseMinors {
  public:
    // The matrices stay. Throws Error.
    explicit DenseGradients(const perm_dense *a);
    std::int64_t numbers() const override { return count() * matrices_.entries(); }
    void run(const Options &options, RunControl &control, const MinorPlaces &to) const override;

  private:
    void read(std::int64_t m, GridMatrix &grid) const;
    void tell(std::int64_t m, const GradientSums &sums, const MinorPlaces &to) const;

    DenseSide rows_, columns_; // the columns written out
    std::vector<int> column_count_;
    std::vector<std::int64_t> column_line_;
    std::int64_t n_cols_ = 0;
    int ones_ = 0; // on a diagonal below
    bool is_transposed_ = false;
};

} // namespace libperm
