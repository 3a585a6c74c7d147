// The permanents of a matrix without each of its rows in turn, by one sum over counts, in pieces on threads.
#pragma once

#include "jit/lanes/minor_sum.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/glynn/minors/line_tasks.hpp"
#include "lib/glynn/minors/minor_bounds.hpp"
#include "lib/run/run_control.hpp"

namespace libperm {

// What `rows` kinds of rows take on one thread.
double minor_seconds(int rows, double terms, bool is_complex);

// Steps, which are shared out among threads.
StepPieces minor_share(const CountedColumns &a);
LineSums minor_task(const CountedColumns &a, NumberRange task, RunControl &control); // these alone

class MinorSums {
  public:
    // The lines are fixed, and stay: one row more than columns, copies counted. There are the same bits for
    // any number of threads.
    MinorSums(const GridMatrix &lines, int threads, RunControl &control);
    // Takes what another device has summed.
    MinorSums(const GridMatrix &lines, LineSums sums);

    // Writes the minor without one copy of row i; returns its bound.
    double put(int i, double *to) const {
        return bounds_.put(sums_.sum(i, 0), i, lines_.exp2() - lines_.row_exp2(i), 1, to);
    }

  private:
    const GridMatrix &lines_;
    LineSums sums_;
    MinorBounds bounds_;
};

} // namespace libperm
