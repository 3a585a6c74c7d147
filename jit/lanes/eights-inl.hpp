// Eight lanes, which sums are made of in every instruction set, so that all have the same bits; and wider
// ones brought down to them.
#include "jit/lanes/lanes-inl.hpp"

#if defined(LIBPERM_JIT_EIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_EIGHTS_INL_HPP
#undef LIBPERM_JIT_EIGHTS_INL_HPP
#else
#define LIBPERM_JIT_EIGHTS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr int eight_lanes = 8, vectors_of_eight = eight_lanes / static_cast<int>(hn::MaxLanes(Tag()));
using Eight = Wide<vectors_of_eight>;

template <int size> HWY_INLINE Eight to_eight(Wide<size> a) {
    if constexpr (size == vectors_of_eight)
        return a;
    else
        return to_eight<size / 2>(a.low + a.high);
}

// Of all lanes, by halves.
HWY_INLINE double lane_sum(Eight a) {
    HWY_ALIGN double x[eight_lanes];
    store(a, x);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
