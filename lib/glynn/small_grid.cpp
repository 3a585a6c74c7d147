#include "lib/glynn/small_grid.hpp"

#include "jit/lanes/sign_grids.hpp"
#include "lib/number/bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

double factorial(int n) { // exact up to 18, rounded at each factor from then on
    double f = 1;
    for (int k = 2; k <= n; ++k) f *= k;
    return f;
}

} // namespace

GridColumns SmallGrid::of(const SmallMatrix &a) const {
    GridColumns columns{a.stride, re.data()};
    if (a.is_complex) columns.im = im.data();
    if (is_split) columns.re_low = re_low.data();
    if (is_split && a.is_complex) columns.im_low = im_low.data();
    return columns;
}

bool put_on_grid(const SmallMatrix &a, SmallGrid &out) {
    RowCounts counts;
    std::fill_n(counts.of.begin(), a.order, 1);
    counts.total = a.order;
    return put_on_grid(a, counts, out);
}

bool put_on_grid(const SmallMatrix &a, const RowCounts &counts, SmallGrid &out) {
    alignas(64) double scale[most_small_order] = {};
    const GridColumns given{a.stride, a.re.data(), a.is_complex ? a.im.data() : nullptr};
    if (!raise_to_largest(given, a.order, scale)) return false;
    const int spread = spread_of(counts.total);
    for (int i = 0; i < a.order; ++i) {
        const int count = counts.of[static_cast<std::size_t>(i)];
        if (count == 0) continue;
        const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(scale[i]) >> 52) - 1022 + spread;
        if (scale[i] == 0 || std::abs(exponent) > most_row_exponent) return false;
        scale[i] = power_of_two(-exponent);
        out.exp2 += std::int64_t{count} * exponent;
    }
    const SignCut all = cut_to_grids(given, a.order, scale, spread,
                                     {out.re.data(), out.re_low.data(), out.im.data(), out.im_low.data()});
    out.is_split = all.splits;
    if (all.moves) {
        const double entry = std::ldexp(a.is_complex ? 1.4143 : 1, -spread); // the largest can be
        const int n = counts.total;
        out.moved = factorial(n) * std::pow(entry, n) * std::ldexp(n, 2 * spread - 104);
    }
    return true;
}

} // namespace libperm
