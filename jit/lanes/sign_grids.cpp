#include "jit/lanes/sign_grids.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/sign_grids.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Four = hn::CappedTag<double, 4>;

bool raise(const double *columns, int n, int stride, double *largest) {
    const Four d;
    const auto infinite = hn::Inf(d);
    auto finite = hn::Eq(infinite, infinite);
    for (int i = 0; i < stride; i += static_cast<int>(hn::Lanes(d))) {
        auto most = hn::Load(d, largest + i);
        for (int j = 0; j < n; ++j) {
            const auto x = hn::Abs(hn::Load(d, columns + j * stride + i));
            most = hn::Max(most, x);
            finite = hn::And(finite, hn::Lt(x, infinite));
        }
        hn::Store(most, d, largest + i);
    }
    return hn::AllTrue(d, finite);
}

SignCut cut(const double *columns, int n, int stride, const double *scale, SignGrids grids, double *high,
            double *low) {
    const Four d;
    const auto zero = hn::Zero(d), to_high = hn::Set(d, grids.high), to_low = hn::Set(d, grids.low);
    auto splits = hn::Ne(zero, zero), moves = splits;
    for (int i = 0; i < stride; i += static_cast<int>(hn::Lanes(d))) {
        const auto by = hn::Load(d, scale + i);
        for (int j = 0; j < n; ++j) {
            const int k = j * stride + i;
            const auto given = hn::Load(d, columns + k), x = hn::Mul(given, by);
            const auto h = hn::Sub(hn::Add(x, to_high), to_high), rest = hn::Sub(x, h);
            const auto l = hn::Sub(hn::Add(rest, to_low), to_low);
            hn::Store(h, d, high + k);
            hn::Store(l, d, low + k);
            splits = hn::Or(splits, hn::Ne(l, zero));
            moves = hn::Or(moves, hn::Ne(rest, l));
            moves = hn::Or(moves, hn::And(hn::Eq(x, zero), hn::Ne(given, zero))); // below all doubles
        }
    }
    return {!hn::AllFalse(d, splits), !hn::AllFalse(d, moves)};
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(raise);
HWY_EXPORT(cut);

} // namespace

bool raise_to_largest(const double *columns, int n, int stride, double *largest) {
    return HWY_DYNAMIC_DISPATCH(raise)(columns, n, stride, largest);
}

SignCut cut_to_grids(const double *columns, int n, int stride, const double *scale, SignGrids grids,
                     double *high, double *low) {
    return HWY_DYNAMIC_DISPATCH(cut)(columns, n, stride, scale, grids, high, low);
}

} // namespace libperm
#endif
