// How far sums of products without one factor can be from their minors (docs/accuracy.md, "Minors").
#pragma once

#include "lib/glynn/grid_matrix.hpp"
#include "lib/number/scaled.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct SumShape {
    int halvings = 0;            // the sum is 2 to this times the minor
    double factor_roundings = 0; // of a term beside those of its factors and their product
    double additions = 0;        // of sums that keep what they lose
};

class MinorBounds {
  public:
    MinorBounds(const GridMatrix &lines, const SumShape &shape);

    // The error of the sum without row i (-1: with all, of one factor more); 0 where it is exact.
    double error(const TermSum &sum, int i) const;

    // The minor times `factor`, as a double or two; `exp2` is of the lines that are in it. Returns its bound.
    double put(const TermSum &sum, int i, std::int64_t exp2, double factor, double *to) const;

  private:
    const bool is_complex_;
    const SumShape shape_;
    double share_ = 0, share_of_whole_ = 0, underflow_ = 0;
    std::vector<double> moved_; // by i + 1
    std::vector<int> units_;
};

} // namespace libperm
