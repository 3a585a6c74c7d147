// The segments of a sum over subsets: how those of a window are added up, and which are summed again in
// numbers of twice the precision.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "lib/number/doubles.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/plan.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace libperm {

constexpr std::uint64_t segment_group = 256; // segments whose sums are added up first

template <class A> PartialOf<A> add_in_order(const A &f, std::span<const PartialOf<A>> partials) {
    return number::add_in_order(f, partials.data(), partials.size());
}

template <class A> SubsetSum as_subset_sum(const PartialOf<A> &p) {
    if constexpr (!A::bounded) {
        return {A::total(p.sum), 0, 0};
    } else {
        const auto normal = [](const auto &s) {
            const auto pair = std::bit_cast<DoubleDouble>(s);
            return two_sum(pair.hi, pair.lo);
        };
        if constexpr (requires { p.sum.re; }) {
            const DoubleDouble re = normal(p.sum.re), im = normal(p.sum.im);
            return {re.hi, re.lo, p.absolute, im.hi, im.lo};
        } else {
            const DoubleDouble sum = normal(p.sum);
            return {sum.hi, sum.lo, p.absolute};
        }
    }
}

template <class A> void add_window(const A &f, SubsetSum &total, const SubsetSum &part) {
    if constexpr (!A::bounded) {
        total.sum = f.add(total.sum, part.sum);
    } else {
        const DoubleDouble re = DoubleDouble{total.sum, total.error} + DoubleDouble{part.sum, part.error},
                           im = DoubleDouble{total.im, total.im_error} + DoubleDouble{part.im, part.im_error};
        total = {re.hi, re.lo, total.absolute + part.absolute, im.hi, im.lo};
    }
}

template <class A> SubsetSum sum_of_groups(const A &f, std::span<const PartialOf<A>> groups) {
    SubsetSum all;
    for (const PartialOf<A> &g : groups) add_window(f, all, as_subset_sum(g));
    return all;
}

template <class A> SubsetSum sum_of_window(const A &f, std::span<const PartialOf<A>> segments) {
    std::vector<PartialOf<A>> groups;
    for (std::uint64_t k = 0; k < segments.size(); k += segment_group)
        groups.push_back(add_in_order(
            f, segments.subspan(k, std::min<std::uint64_t>(segment_group, segments.size() - k))));
    return sum_of_groups(f, std::span<const PartialOf<A>>(groups));
}

// Which segments of a sum over subsets are summed again in numbers of twice the precision (Arithmetic::pair,
// or split where row sums are on two grids): those whose terms are largest, chosen over all of the sum.
//
// The rounding of doubles leaves 2 rho T, T being the sum of the absolute values of the segments that are not
// summed again, rho the roundings on the way of a term. T is to be small enough for the tolerance, beside an
// estimate of the permanent. How T falls with the segments that are left out is seen in a sample of them;
// both follow from plan and values alone, so everybody who sums a part of the whole chooses the same.

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
