// Which segments of a sum over subsets are summed again in numbers of twice the precision (Arithmetic::pair,
// or split where row sums are on two grids): those whose terms are largest, chosen over all of the sum.
//
// The rounding of doubles leaves 2 rho T, T being the sum of the absolute values of the segments that are not
// summed again, rho the roundings on the way of a term. T is to be small enough for the tolerance, beside an
// estimate of the permanent. How T falls with the segments that are left out is seen in a sample of them;
// both follow from plan and values alone, so everybody who sums a part of the whole chooses the same.
#pragma once

#include "lib/subsets/plan.hpp"
#include "lib/subsets/segment_sum.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace libperm {

struct RefinedSegments {
    // Segments whose absolute values add up to more than this.
    double most = std::numeric_limits<double>::infinity();
    bool all = false; // all at once, not in doubles first; engine `tree`
    // A window whose other segments leave more than this by themselves is left as it is: no bound will be
    // what was asked for, whatever is summed again.
    double hopeless = std::numeric_limits<double>::infinity();
};

// Of a window: what the segments that are not summed again come to, in groups as a GPU adds them up.
template <class Partials> double absolute_rest(const Partials &segments, double most) {
    double rest = 0, of_group = 0;
    for (std::size_t k = 0; k < segments.size(); ++k) {
        if (segments[k].absolute <= most) of_group += segments[k].absolute;
        if ((k + 1) % segment_group != 0 && k + 1 < segments.size()) continue;
        rest += of_group;
        of_group = 0;
    }
    return rest;
}

// About how large the permanent is, of numbers as the kernel takes them (lib/subsets/kernel_values.hpp). Of
// random signs its square is the permanent of the squares, on average.
double log2_permanent(const SubsetKernel &kernel, const std::vector<double> &numbers);

// How many times the permanent all terms are together without their signs, about.
double absolute_permanents(const SubsetKernel &kernel, const std::vector<double> &numbers);

// Of row sums on two grids `numbers` are the first of each.
RefinedSegments choose_refined(const SubsetPlan &plan, const std::vector<double> &numbers);

// About how many times its time a sum takes with what is summed again: of matrices without negative entries a
// tenth, measured; of others Sum |terms| is small.
double refining_slowdown(const SubsetPlan &plan, bool nonnegative);

// A matrix as kernels sum it.
struct SubsetMatrix {
    std::vector<double> numbers;
    RefinedSegments refined;
};

} // namespace libperm
