#include "lib/glynn/fixed_columns.hpp"

#include "jit/lanes/sign_grids.hpp"
#include "lib/number/bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

constexpr int most_exponent = 900;

// Sums of n entries below 2^-spread are below 1.
int spread_of(int n) { return std::max(2, static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)))); }

double factorial(int n) { // exact up to 18, rounded at each factor from then on
    double f = 1;
    for (int k = 2; k <= n; ++k) f *= k;
    return f;
}

} // namespace

GridColumns FixedColumns::of(const SmallMatrix &a) const {
    GridColumns columns{a.stride, re.data()};
    if (a.is_complex) columns.im = im.data();
    if (is_split) columns.re_low = re_low.data();
    if (is_split && a.is_complex) columns.im_low = im_low.data();
    return columns;
}

bool fix_columns(const SmallMatrix &a, FixedColumns &out) {
    RowCounts counts;
    std::fill_n(counts.of.begin(), a.order, 1);
    counts.total = a.order;
    return fix_columns(a, counts, out);
}

bool fix_columns(const SmallMatrix &a, const RowCounts &counts, FixedColumns &out) {
    alignas(64) double scale[most_small_order] = {};
    const auto raise = [&](const SmallColumns<double> &part) {
        return raise_to_largest(part.data(), a.order, a.stride, scale);
    };
    if (!raise(a.re) || (a.is_complex && !raise(a.im))) return false;
    const int spread = spread_of(counts.total);
    for (int i = 0; i < a.order; ++i) {
        const int count = counts.of[static_cast<std::size_t>(i)];
        if (count == 0) continue;
        const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(scale[i]) >> 52) - 1022 + spread;
        if (scale[i] == 0 || std::abs(exponent) > most_exponent) return false;
        scale[i] = power_of_two(-exponent);
        out.exp2 += std::int64_t{count} * exponent;
    }
    // Doubles from 1/2 to 1 are multiples of 2^-53, and so is what is left of this and any below 1/4; the low
    // grid's unit is 2^(spread - 107).
    const SignGrids grids{0.75, 1.5 * power_of_two(spread - 55)};
    const auto cut = [&](const SmallColumns<double> &part, SmallColumns<double> &high,
                         SmallColumns<double> &low) {
        return cut_to_grids(part.data(), a.order, a.stride, scale, grids, high.data(), low.data());
    };
    SignCut all = cut(a.re, out.re, out.re_low);
    if (a.is_complex) {
        const SignCut im = cut(a.im, out.im, out.im_low);
        all = {all.splits || im.splits, all.moves || im.moves};
    }
    out.is_split = all.splits;
    if (all.moves) {
        const double entry = std::ldexp(a.is_complex ? 1.4143 : 1, -spread); // the largest can be
        const int n = counts.total;
        out.moved = factorial(n) * std::pow(entry, n) * std::ldexp(n, 2 * spread - 104);
    }
    return true;
}

} // namespace libperm
