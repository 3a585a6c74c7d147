// Sums of products with each factor left out, of a dense matrix: all derivatives of its permanent, by a sum
// over signs, or the permanents without each of its rows in turn, by one over counts, both by
// jit/lanes/left_out_sums.hpp. In pieces on threads; how far they can be from what they are of is in
// docs/accuracy.md, "Minors".
#pragma once

#include "jit/kernel/sign_sums.hpp"
#include "jit/lanes/grid_columns.hpp"
#include "jit/lanes/left_out_sums.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/tape/tape_run.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace libperm {

// Columns of a matrix whose derivatives are summed: a smaller one gets ones on a diagonal below.
constexpr int columns_for_gradient(int n) { return n < least_gradient_order ? least_gradient_order : n; }

// Steps of a sum, which are shared out as tasks, of which each keeps sums of its own until all are done.
struct StepPieces {
    std::uint64_t steps, piece; // in all, and at once

    std::uint64_t tasks() const {
        constexpr std::uint64_t most = 64;
        return std::clamp((steps + piece - 1) / piece, std::uint64_t{1}, most);
    }
    NumberedPieces in_tasks() const { return NumberedPieces::so_many(steps, tasks()); }
};

// Rows of any counts, and columns: of minors, too; of gradients each counts once, as many as rows with their
// copies.
struct LeftOutShape {
    LeftOut what;
    std::vector<int> row_count, column_count;
    bool is_complex;

    int rows() const { return static_cast<int>(row_count.size()); }
    int columns() const { return static_cast<int>(column_count.size()); }
    LineSums no_sums() const { return {rows(), what == LeftOut::gradients ? columns() : 1, is_complex}; }
    GridMatrix no_lines() const { return {row_count, column_count, is_complex}; }

    StepPieces share() const;              // how a CPU shares out the sums of a matrix, and so does a device
    double seconds() const;                // that they take on one thread
    std::int64_t bytes(int threads) const; // of gradients, beside the matrix
};

// Those of a task alone, of lines that are fixed; and a task's added to those of the tasks before it.
LineSums sums_of_task(const LeftOutShape &shape, const GridMatrix &lines, NumberRange task);
void add_task(const LineSums &task, LineSums &all);

class LeftOutSums {
  public:
    // The lines are fixed, and stay. There are the same bits for any number of threads.
    LeftOutSums(const LeftOutShape &shape, const GridMatrix &lines, int threads);
    // Takes what was summed elsewhere.
    LeftOutSums(LeftOut what, const GridMatrix &lines, LineSums sums);

    // Writes the minor without one copy of row i, j being 0, or the derivative by the entry (i, j) of one
    // copy of row i; times `factor` and 2^exp2. Returns its bound.
    double put(int i, int j, double factor, std::int64_t exp2, double *to) const;

    // With derivatives: times 2^exp2.
    TapeAnswer permanent(std::int64_t exp2) const;
    double put_permanent(double *to) const;

  private:
    double error(const TermSum &sum, int i) const; // without row i; 0 where it is exact
    double put_number(const TermSum &sum, int i, std::int64_t exp2, double factor, double *to) const;

    const LeftOut what_;
    const GridMatrix &lines_;
    const LineSums sums_;
    const int halvings_;            // a sum is 2 to this times the minor
    double share_, share_of_whole_; // of a sum's absolute values, that it can err by
    double underflow_;
    std::vector<double> moved_; // by i + 1; 0: without none
    std::vector<int> units_;
};

} // namespace libperm
