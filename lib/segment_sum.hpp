// The sum over a window of segments from the sums of each, in the order and with the operations of
// jit/device/gray_walk.cuh, whoever made them.
#pragma once

#include "jit/gray_kernel.hpp"
#include "lib/double_double.hpp"
#include "lib/gray_values.hpp"

#include <span>

namespace libperm {

constexpr std::uint64_t segment_group = 256; // segments whose sums are added up first

// add_in_order there.
inline Partial3 add_in_order(std::span<const Partial3> partials) {
    Partial3 all{0, 0, 0};
    double errors = 0;
    for (const Partial3 &p : partials) {
        const DoubleDouble s = two_sum(all.sum, p.sum);
        all.error += s.lo;
        all.sum = s.hi;
        all.absolute += p.absolute;
        errors += p.error;
    }
    all.error += errors;
    return all;
}

inline GraySum sum_of_groups(std::span<const Partial3> groups) {
    DoubleDouble sum;
    GraySum all;
    for (const Partial3 &g : groups) {
        sum = sum + two_sum(g.sum, g.error);
        all.absolute += g.absolute;
    }
    all.sum = sum.hi;
    all.error = sum.lo;
    return all;
}

inline void add_window(GraySum &total, const GraySum &part) {
    const DoubleDouble sum = DoubleDouble{total.sum, total.error} + DoubleDouble{part.sum, part.error};
    total = {sum.hi, sum.lo, total.absolute + part.absolute};
}

} // namespace libperm
