#include "jit/lanes/sign_grids.hpp"

#include "jit/lanes/lane_targets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

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

// `grids`: constants that leave multiples of a grid's last bit where they are added and subtracted again.
SignCut cut(const double *columns, int n, int stride, const double *scale, std::pair<double, double> grids,
            double *high, double *low) {
    const Four d;
    const auto zero = hn::Zero(d), to_high = hn::Set(d, grids.first), to_low = hn::Set(d, grids.second);
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

bool raise_to_largest(const GridColumns &columns, int n, double *largest) {
    const auto raise_part = [&](const double *part) {
        return HWY_DYNAMIC_DISPATCH(raise)(part, n, columns.stride, largest);
    };
    return raise_part(columns.re) && (!columns.im || raise_part(columns.im));
}

int spread_of(int n) { return std::max(2, static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)))); }

SignCut cut_to_grids(const GridColumns &columns, int n, const double *scale, int spread,
                     const GridParts &to) {
    // Doubles from 1/2 to 1 are multiples of 2^-53, and so is what is left of this and any below 1/4.
    const std::pair<double, double> grids{0.75, std::ldexp(1.5, spread - 55)};
    const auto cut_part = [&](const double *part, double *high, double *low) {
        return HWY_DYNAMIC_DISPATCH(cut)(part, n, columns.stride, scale, grids, high, low);
    };
    const SignCut re = cut_part(columns.re, to.re, to.re_low);
    if (!columns.im) return re;
    const SignCut im = cut_part(columns.im, to.im, to.im_low);
    return {re.splits || im.splits, re.moves || im.moves};
}

int unit_of_row(const GridColumns &columns, int n, int i) {
    std::uint64_t bits = 0;
    for (int j = 0; j < n; ++j)
        for (const double *part : {columns.re, columns.im})
            if (part)
                bits |= static_cast<std::uint64_t>(
                    static_cast<std::int64_t>(part[j * columns.stride + i] * 0x1p53));
    return std::countr_zero(bits) - 53;
}

} // namespace libperm
#endif
