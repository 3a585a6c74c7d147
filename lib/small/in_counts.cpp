#include "lib/small/in_counts.hpp"

#include "lib/number/ball.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

CountedColumns columns_of(const SmallKinds &a, const FixedColumns &fixed) {
    CountedColumns out;
    out.rows = static_cast<int>(
        std::count_if(a.row_count.of.begin(), a.row_count.of.end(), [](int count) { return count > 0; }));
    out.columns = a.columns;
    out.stride = a.matrix.stride;
    out.row_count = a.row_count.of.data();
    out.column_count = a.column_count.data();
    out.re = fixed.re.data();
    if (a.matrix.is_complex) out.im = fixed.im.data();
    if (fixed.is_split) out.re_low = fixed.re_low.data();
    if (fixed.is_split && a.matrix.is_complex) out.im_low = fixed.im_low.data();
    return out;
}

// Of entries on the first grid alone: every term is a multiple of 2 to this.
int unit_of_terms(const SmallKinds &a, const FixedColumns &fixed, int rows) {
    int unit = 0;
    for (int i = 0; i < rows; ++i) {
        std::uint64_t bits = 0;
        for (int j = 0; j < a.columns; ++j) {
            const std::size_t k = a.matrix.at(i, j);
            bits |= static_cast<std::uint64_t>(static_cast<std::int64_t>(fixed.re[k] * 0x1p53));
            if (a.matrix.is_complex)
                bits |= static_cast<std::uint64_t>(static_cast<std::int64_t>(fixed.im[k] * 0x1p53));
        }
        unit += a.row_count.of[static_cast<std::size_t>(i)] * (std::countr_zero(bits) - 53);
    }
    return unit;
}

// Proofs: docs/accuracy.md, "Sums over counts".
struct Bounds {
    double mass, error;
};
Bounds bounds_of(const CountSum &sum, double size, const CountedColumns &columns, int n, double moved) {
    const double additions = sum.steps + 8,
                 mass = sum.mass * (1 + (additions + sum.step_roundings + 8) * 0x1p-52);
    const int of_product = columns.is_complex() ? 3 : 1, of_sum = columns.is_split() ? 1 : 0;
    const double gamma =
        gamma_bound((n - 1) * of_product + n * of_sum + columns.columns + sum.step_roundings);
    const double lost = additions * additions * 0x1p-104, underflow = (n + 2) * std::exp2(1.5 * n - 1070);
    return {mass, (gamma / (1 - gamma) + lost) * mass * (1 + 0x1p-20) + 0x1.01p-53 * size + underflow +
                      std::ldexp(moved, n)};
}

} // namespace

bool sum_in_counts(const SmallKinds &a, TapeAnswer &answer) {
    FixedColumns fixed;
    if (!fix_columns(a.matrix, a.row_count, fixed)) return false;
    const CountedColumns columns = columns_of(a, fixed);
    const CountSum sum = sum_over_counts(columns);
    const int n = a.row_count.total;
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest, size = std::hypot(re, im);
    const Bounds bounds = bounds_of(sum, size, columns, n, fixed.moved);
    const std::int64_t exp2 = fixed.exp2 - n;
    answer.re = make_scaled(re, exp2);
    answer.im = make_scaled(im, exp2);
    const int unit = fixed.is_split || fixed.moved != 0 ? -2000 : unit_of_terms(a, fixed, columns.rows);
    answer.exact = unit > -900 && bounds.mass < std::ldexp(1.0, unit + 52);
    if (answer.exact) return true;
    answer.error = make_scaled(bounds.error, exp2);
    answer.rel_error_bound = to_double_up(relative_error(make_scaled(size, exp2), answer.error));
    return true;
}

} // namespace libperm
