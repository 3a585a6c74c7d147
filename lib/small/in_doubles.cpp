#include "lib/small/in_doubles.hpp"

#include "lib/base/threads.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/double_double.hpp"
#include "lib/small/fixed_columns.hpp"
#include "lib/small/pieces.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

void add(double part, double part_rest, double &sum, double &rest) {
    const DoubleDouble s = two_sum(sum, part);
    sum = s.hi;
    rest += s.lo + part_rest;
}

SignSum sum_of(const SignColumns &columns, int threads) {
    const std::uint64_t steps = sign_steps(columns), piece = steps_of_piece(columns.n, steps);
    if (piece >= steps) return sum_over_signs(columns, 0, steps);
    std::array<SignSum, most_sign_pieces> sums;
    in_pieces(steps / piece, threads,
              [&](std::uint64_t k) { sums[k] = sum_over_signs(columns, k * piece, (k + 1) * piece); });
    SignSum all;
    for (std::uint64_t k = 0; k < steps / piece; ++k) {
        add(sums[k].re, sums[k].re_rest, all.re, all.re_rest);
        add(sums[k].im, sums[k].im_rest, all.im, all.im_rest);
        all.mass += sums[k].mass;
    }
    return all;
}

// Of rows that were given: those that were added round nothing.
int roundings_of(const SignColumns &columns, int given) {
    const int of_product = columns.is_complex() ? 3 : 1, of_sum = columns.is_split() ? 1 : 0;
    const int of_step = std::bit_width(static_cast<unsigned>(vectors_of_step(columns))) - 1;
    return (given - 1) * of_product + given * of_sum + of_step;
}

// Proof: docs/accuracy.md, "Sums over signs".
double error_of(const SignSum &sum, double size, const SignColumns &columns, int given, double moved) {
    const double gamma = gamma_bound(roundings_of(columns, given)), underflow = columns.n * 0x1p-1040;
    const double error =
        (gamma / (1 - gamma) + 0x1p-80) * sum.mass * (1 + 0x1p-20) + 0x1.01p-53 * size + underflow;
    return moved == 0 ? error : error + std::ldexp(moved, columns.n - 1);
}

double size_of(double re, double im) {
    const double square = re * re + im * im;
    return square > 0x1p-900 ? std::sqrt(square) : std::hypot(re, im);
}

} // namespace

bool sum_in_doubles(const DenseMatrix &a, int threads, TapeAnswer &answer) {
    FixedColumns fixed;
    if (!fix_columns(a, fixed)) return false;
    SignColumns columns{a.order, a.stride, fixed.re.data()};
    if (a.is_complex) columns.im = fixed.im.data();
    if (fixed.is_split) columns.re_low = fixed.re_low.data();
    if (fixed.is_split && a.is_complex) columns.im_low = fixed.im_low.data();
    const SignSum sum = sum_of(columns, threads);
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest,
                 size = a.is_complex ? size_of(re, im) : std::fabs(re);
    const std::int64_t exp2 = fixed.exp2 - (a.order - 1);
    answer.re = make_scaled(re, exp2);
    answer.im = make_scaled(im, exp2);
    answer.exact = false;
    answer.set_error(make_scaled(size, exp2),
                     make_scaled(error_of(sum, size, columns, a.given, fixed.moved), exp2));
    return true;
}

} // namespace libperm
