// The caller's dense matrices, and what is asked of them: each straight from its values.
#pragma once

#include "lib/glynn/grid_matrix.hpp"
#include "lib/glynn/minors/left_out_in_pieces.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/task_parts.hpp"
#include "lib/run/tasks.hpp"

#include <perm.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

// The caller's dense matrices of one shape, read line by line for sums over signs and counts.

// The lines of one side that count: how many copies each has, and where it stands among the caller's.
struct DenseSide {
    std::vector<int> count;
    std::vector<std::int64_t> line;
    std::int64_t total = 0;
    bool is_counted; // whether multiplicities were given

    // `what`: the side's name. Throws Error.
    DenseSide(std::int64_t lines, const std::int64_t *multiplicity, const char *what);

    // Puts the most copies first, so that the sum's last kind, of which half the counts do, has the fewest.
    void sort();
    int kinds() const { return static_cast<int>(count.size()); }
};

class DenseMatrices {
  public:
    // Throws Error for what is no such matrix, or not finite.
    explicit DenseMatrices(const perm_dense *a);

    DenseSide rows() const { return {a_.n_rows, a_.row_multiplicity, "row"}; }
    DenseSide columns() const { return {a_.n_cols, a_.col_multiplicity, "col"}; }
    std::int64_t count() const { return a_.count; }
    std::int64_t entries() const { return a_.n_rows * a_.n_cols; }
    std::int64_t order() const { return std::max(a_.n_rows, a_.n_cols); }
    bool is_complex() const { return is_complex_; }
    std::size_t parts() const { return is_complex_ ? 2 : 1; }

    // Reads matrix m's entries of these lines: `across` stands beside each other in `lines`, or below if
    // transposed.
    void read(std::int64_t m, const std::vector<std::int64_t> &down, const std::vector<std::int64_t> &across,
              bool is_transposed, GridMatrix &lines) const;

    std::string digest() const; // of all of them, 32 hexadecimal digits

  private:
    double real(std::int64_t k) const { return static_cast<const double *>(a_.values)[k]; }
    double integer(std::int64_t k) const {
        return static_cast<double>(static_cast<const std::int64_t *>(a_.values)[k]);
    }
    void require_values() const;
    std::string place(std::int64_t k) const;

    const perm_dense &a_;
    const bool is_complex_;
};

// Where they go, as perm.h tells; null: not wanted, but for the numbers.
struct MinorPlaces {
    double *numbers, *bounds;
    double *permanents = nullptr, *permanent_bounds = nullptr; // with derivatives
};

// What perm_sub_permanents or perm_gradients tells of the matrices.
class DenseMinors {
  public:
    // The matrices stay. Throws Error.
    DenseMinors(LeftOut what, const perm_dense *a);

    LeftOut what() const { return shape_.what; }
    std::int64_t count() const { return matrices_.count(); }            // of matrices
    std::int64_t numbers() const { return count() * numbers_of_each_; } // of all, complex ones counted once
    std::size_t parts() const { return matrices_.parts(); }             // of a number
    ShardCount shards() const;
    const DenseMatrices &matrices() const { return matrices_; }

    // Sums that the call's store has are taken from it. Throws Error.
    void run(const Options &options, const MinorPlaces &to) const;

  private:
    void leave_out_lines(const perm_dense &a);
    void leave_out_entries(const perm_dense &a);
    void read(std::int64_t m, GridMatrix &grid) const;
    void tell(std::int64_t m, const LeftOutSums &sums, const MinorPlaces &to) const;
    void in_pieces(const Options &options, const MinorPlaces &to, const LeftOutDevices &devices,
                   int workers) const;

    const DenseMatrices matrices_;
    DenseSide left_, summed_; // the longer side and the other one; of derivatives the rows, and the columns
    std::vector<std::int64_t> across_; // where the latter stand, of derivatives each copy by itself
    bool is_transposed_ = false;
    int ones_ = 0; // on a diagonal below
    std::int64_t n_cols_ = 0, numbers_of_each_ = 0;
    LeftOutShape shape_{};
    double seconds_ = 0; // of a matrix, on one thread
};

struct Minors {
    std::vector<double> numbers, bounds;
    std::vector<double> permanents, permanent_bounds; // with derivatives
};

// As a task: its pieces are those of the sums.
class MinorsTask final : public TaskOf<Minors> {
  public:
    // Both must outlive it.
    MinorsTask(const DenseMinors &minors, const Options &options) : minors_(minors), options_(options) {}

    TaskIdentity identity() const override;
    ShardCount shards() const override { return minors_.shards(); }
    KeptAbout about() const override;
    Minors run(PieceStore *store, const Told &told) const override;

  private:
    const DenseMinors &minors_;
    const Options &options_;
};

} // namespace libperm
