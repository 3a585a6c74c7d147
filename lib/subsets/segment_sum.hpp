// The sum over a window of segments from the sums of each, in the order and with the operations of
// jit/device/partial.cuh, whoever made them.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "lib/number/double_double.hpp"
#include "lib/subsets/fixed_point_double.hpp"

#include <algorithm>
#include <bit>
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

} // namespace libperm
