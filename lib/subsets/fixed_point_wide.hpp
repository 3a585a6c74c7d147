// An exact block's values as the kernels of the wide arithmetics (complex, dd, complex dd) take them: on a
// grid on which the row sums round nowhere, as lib/subsets/fixed_point_double.hpp has it for doubles.
#pragma once

#include "lib/number/wide_value.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "preprocess/block.hpp"

#include <vector>

namespace libperm {

class FixedPointWide {
  public:
    // `block` is A or A^T as the plan has it.
    FixedPointWide(const SubsetPlan &plan, const ExactBlock &block);

    const std::vector<double> &numbers() const { return numbers_; } // jit/kernel/subsets.hpp

    // The first double of each number.
    std::vector<double> leading(const SubsetKernel &kernel) const;
    bool is_nonnegative() const { return nonnegative_; }

    // Whether the grid does not hold all entries.
    bool is_moved() const;

    // The permanent and its bound from the sum over all subsets.
    EngineResult close(const SubsetSum &total, const SubsetKernel &kernel) const;

  private:
    void fill_in(const SubsetPlan &plan, const Pattern &pattern, const std::vector<Parts> &parts);
    double lost(double most) const;

    // In the units of the scaled block: A' is what is summed, A the block.
    Block sizes_;               // of each entry at least |a| and |a'|
    std::vector<double> moved_; // by row: an entry by at most this
    double share_ = 0;          // sum over the rows (or columns) of the largest |a' - a| / |a'|
    bool nonnegative_ = true;
    std::vector<double> numbers_;
    std::int64_t exp2_ = 0;     // the permanent is the sum times 2^exp2_
    std::int64_t sum_bits_ = 0; // of a product of all row sums, when nothing is rounded
};

} // namespace libperm
