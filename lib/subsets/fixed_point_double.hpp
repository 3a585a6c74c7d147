// A block's values as the GPU's kernels take them: on a grid on which the row sums round nowhere, so that
// they are the same whichever way the Gray code is walked, and do not drift.
#pragma once

#include "lib/run/engine_result.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/block.hpp"

#include <vector>

namespace libperm {

// The sum over all segments, or over a part.
struct SubsetSum {
    double sum = 0, error = 0, absolute = 0; // sum + error; and of the absolute values
    double im = 0, im_error = 0;             // of complex numbers, the imaginary part
};

// Of so many terms the sum is a number as any other, and each term is rounded so often on its way to it, in
// units of the arithmetic. `compensated`: what a Sum's additions lose, as a share of their absolute values.
struct RoundingWay {
    double terms, roundings, compensated = 0x1p-70;
};
RoundingWay way_of(const SubsetKernel &kernel);

// Whether no value is negative, as it stands.
bool has_no_negative(const Block &block);

class FixedPointDouble {
  public:
    // `block` is A or A^T as the plan has it; with ones in the columns along which that takes two subsets at
    // once (lib/subsets/ones.hpp).
    FixedPointDouble(const SubsetPlan &plan, const Block &block);

    // x at the empty set, then the entries in the kernel's order, then the tree's constants.
    const std::vector<double> &numbers() const { return numbers_; }

    double moved() const { return moved_; }
    std::int64_t exp2() const { return exp2_; }
    // Whether the grid leaves room for a bound as small as this; of signed entries that is not known yet.
    bool may_reach(double tolerance) const { return moved_ < tolerance; }

    // Whether products of whole numbers fit a double, sums of a block's do, and all that fit two.
    bool may_be_exact(const RoundingWay &way) const;

    // The permanent and its bound from the sum over all subsets.
    EngineResult close(const SubsetSum &total, const Block &block, const RoundingWay &way) const;

  private:
    void scale_ones(const SubsetPlan &plan, const Pattern &pattern, std::vector<double> &value);

    std::int32_t n_;
    double sign_ = 1; // of the sum, by the columns of ones
    bool has_ones_ = false;
    std::vector<double> numbers_;
    std::int64_t exp2_ = 0;     // the permanent is that of numbers() times 2^exp2_
    double moved_ = 0;          // entries by at most a share s_i of row i: the sum of these
    std::int64_t sum_bits_ = 0; // of a product of all row sums, when nothing is rounded
    std::int64_t unit_ = 0;     // it is a multiple of 2^unit_
};

} // namespace libperm
