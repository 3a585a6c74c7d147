// All derivatives of a dense matrix's permanent by sums over signs, in pieces on threads.
#pragma once

#include "jit/lanes/gradient_sum.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/glynn/minors/line_tasks.hpp"
#include "lib/glynn/minors/minor_bounds.hpp"
#include "lib/run/run_control.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

// Columns of a matrix whose derivatives are summed: a smaller one gets ones on a diagonal below.
constexpr int columns_for_gradient(int n) { return n < least_gradient_order ? least_gradient_order : n; }

// What the sums take on one thread, and what they hold beside the matrix.
double gradient_seconds(int rows, int columns, bool is_complex);
int gradient_threads(int rows, int columns, bool is_complex); // that have something to do
std::int64_t gradient_bytes(int rows, int columns, bool is_complex, int threads);

// Pieces, which are shared out among threads.
StepPieces gradient_share(const CountedColumns &a);
LineSums gradient_task(const CountedColumns &a, NumberRange task, RunControl &control); // these alone

class GradientSums {
  public:
    // The lines are fixed, and stay; every column counts once, as many as rows with their copies. There are
    // the same bits for any number of threads.
    GradientSums(const GridMatrix &lines, int threads, RunControl &control);
    // Takes what another device has summed.
    GradientSums(const GridMatrix &lines, LineSums sums);

    // Writes the derivative by the entry (i, j) of one copy of row i, times `factor` and 2^exp2; returns its
    // bound.
    double put(int i, int j, double factor, std::int64_t exp2, double *to) const {
        return bounds_.put(sums_.sum(i, j), i,
                           exp2 + lines_.exp2() - lines_.row_exp2(i) - lines_.column_exp2(j), factor, to);
    }
    TapeAnswer permanent(std::int64_t exp2) const; // times 2^exp2
    double put_permanent(double *to) const { return bounds_.put(sums_.whole, -1, lines_.exp2(), 1, to); }

  private:
    const GridMatrix &lines_;
    LineSums sums_;
    MinorBounds bounds_;
};

} // namespace libperm
