#include "lib/number/ball.hpp"

#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double u = 0x1p-53;
constexpr double up = 1 + 0x1p-50; // more than the roundings of computing a bound
// Relative bounds are computed with a few roundings: a part in 2^40 covers them.
constexpr double slack = 1 + 0x1p-40;

Scaled times(const Scaled &x, double factor) { return make_scaled(x.mantissa * factor, x.exp2); }

Scaled product(const Scaled &x, const Scaled &y) {
    if (x.mantissa == 0 || y.mantissa == 0) return {}; // of an infinite error too
    return make_scaled(x.mantissa * y.mantissa, x.exp2 + y.exp2);
}

Scaled absolute(const Scaled &x) { return {std::fabs(x.mantissa), x.exp2}; }

// x is below 2^exp2: in units of that.
double in_units(const Scaled &x, std::int64_t exp2) {
    return x.mantissa * power_of_two(static_cast<int>(std::clamp<std::int64_t>(x.exp2 - exp2, -200, 0)));
}

// a + b, both >= 0: never less than the sum.
Scaled sum_up(const Scaled &a, const Scaled &b) {
    if (a.mantissa == 0) return b;
    if (b.mantissa == 0) return a;
    const std::int64_t exp2 = std::max(a.exp2, b.exp2);
    return make_scaled((in_units(a, exp2) + in_units(b, exp2)) * up, exp2);
}

// `error`, and what two numbers' errors make of that of their product.
Scaled error_of_product(Scaled error, const Scaled &x, const Scaled &x_error, const Scaled &y,
                        const Scaled &y_error) {
    for (const Scaled &part : {product(x, y_error), product(y, x_error), product(x_error, y_error)})
        error = sum_up(error, times(part, up));
    return error;
}

} // namespace

Scaled size_of(const Gaussian &x) {
    const auto up_of = [](const mpq_class &q) {
        const Tracked t = tracked_of(abs(q));
        return times(make_scaled(t.value, t.exp2), t.roundings > 0 ? up : 1);
    };
    if (is_real(x)) return up_of(x.re);
    const Scaled re = up_of(x.re), im = up_of(x.im);
    const std::int64_t exp2 = std::max(re.mantissa == 0 ? im.exp2 : re.exp2, im.exp2);
    return make_scaled(std::hypot(in_units(re, exp2), in_units(im, exp2)) * up, exp2);
}

Ball ball_of(const Tracked &x) {
    const double gamma = gamma_bound(x.roundings);
    return {make_scaled(x.value, x.exp2), make_scaled(gamma / (1 - gamma) * x.magnitude * up, x.exp2)};
}

Ball operator*(const Ball &x, const Ball &y) {
    Ball out;
    out.value = product(x.value, y.value);
    const double mantissa = x.value.mantissa * y.value.mantissa; // at least 1/4, or 0
    if (std::fma(x.value.mantissa, y.value.mantissa, -mantissa) != 0)
        out.error = times(absolute(out.value), u);
    if (x.error.mantissa == 0 && y.error.mantissa == 0) return out;
    out.error = error_of_product(out.error, absolute(x.value), x.error, absolute(y.value), y.error);
    return out;
}

Ball operator+(const Ball &x, const Ball &y) {
    if (x.value.mantissa == 0 && x.error.mantissa == 0) return y;
    if (y.value.mantissa == 0 && y.error.mantissa == 0) return x;
    const Tracked sum = Tracked{x.value.mantissa, std::fabs(x.value.mantissa), x.value.exp2, 0} +
                        Tracked{y.value.mantissa, std::fabs(y.value.mantissa), y.value.exp2, 0};
    Ball out{make_scaled(sum.value, sum.exp2), sum_up(x.error, y.error)};
    if (sum.roundings > 0) // of the result, and of shifting the smaller one
        out.error = sum_up(out.error, make_scaled(2 * u * sum.magnitude, sum.exp2));
    return out;
}

Ball operator/(const Ball &x, const mpz_class &y) {
    const Tracked divisor = tracked_of(mpq_class(y));
    Ball out{make_scaled(x.value.mantissa / divisor.value, x.value.exp2 - divisor.exp2),
             times(make_scaled(x.error.mantissa / divisor.value, x.error.exp2 - divisor.exp2), up)};
    if (x.error.mantissa == 0) out.error = {};
    const bool exact = divisor.roundings == 0 &&
                       std::fma(x.value.mantissa / divisor.value, divisor.value, -x.value.mantissa) == 0;
    if (!exact) out.error = sum_up(out.error, times(absolute(out.value), 3 * u));
    return out;
}

WideBall ball_of(const Gaussian &x) { return {x, {}}; }

Ball ball_within(double value, double error, std::int64_t exp2) {
    return {make_scaled(value, exp2), make_scaled(std::isnan(error) ? infinity : error, exp2)};
}

WideBall ball_within(const Parts &parts, double error, std::int64_t exp2) {
    if (!std::all_of(parts.begin(), parts.end(), [](double x) { return std::isfinite(x); }))
        throw Error(PERM_UNSUPPORTED,
                    "an intermediate result overflowed: leave the pass \"scaling\" on; if it is, the entries "
                    "are too many orders of magnitude apart, and precision exact is left");
    return {exact_of(parts, exp2), make_scaled(std::isnan(error) ? infinity : error, exp2)};
}

WideBall operator*(const WideBall &x, const WideBall &y) {
    WideBall out{x.value * y.value, {}};
    if (x.error.mantissa != 0 || y.error.mantissa != 0)
        out.error = error_of_product({}, size_of(x.value), x.error, size_of(y.value), y.error);
    return out;
}

WideBall operator+(const WideBall &x, const WideBall &y) {
    return {x.value + y.value, sum_up(x.error, y.error)};
}

WideBall operator/(const WideBall &x, const mpz_class &y) {
    const Tracked divisor = tracked_of(mpq_class(y)); // within a rounding
    return {x.value / Gaussian{mpq_class(y), 0},
            times(make_scaled(x.error.mantissa / divisor.value, x.error.exp2 - divisor.exp2), up)};
}

namespace {

// error / 2^value.exp2, or what is nearest to it in the range of double.
double in_units_of(const Scaled &value, const Scaled &error) {
    const std::int64_t apart = std::clamp<std::int64_t>(error.exp2 - value.exp2, -1000, 1000);
    return error.mantissa * power_of_two(static_cast<int>(apart));
}

// What an error is below when a value has more than 17 digits in its text: 6 % more is below 1e-16 then.
constexpr double least_of_17_digits = 0.9e-16;

} // namespace

// Rounding to k digits moves a number by 5 * 10^-k of itself at most.
Scaled written_error(const Scaled &value, const Scaled &error) {
    if (error.mantissa == 0) return {};
    const Scaled size = absolute(value);
    if (in_units_of(value, error) < least_of_17_digits * size.mantissa) return times(error, 1.06);
    return sum_up(error, times(size, 5.01e-17));
}

Scaled relative_error(const Scaled &value, const Scaled &error) {
    if (error.mantissa == 0) return {};
    // |perm| is at least this; a size may be 2^-50 too large.
    const double certain = std::abs(value.mantissa) * (1 - 0x1p-48) - in_units_of(value, error);
    if (!(certain > 0 && std::isfinite(certain))) return make_scaled(infinity);
    const Scaled written = written_error(value, error);
    return make_scaled(written.mantissa / certain * slack, written.exp2 - value.exp2);
}

std::size_t written_digits(const Scaled &relative) {
    constexpr double least = 17, most = 3e6;
    if (!(relative.mantissa > 0 && to_double_up(relative) < 1e-16)) return static_cast<std::size_t>(least);
    const double certain =
        -std::log10(relative.mantissa) - static_cast<double>(relative.exp2) * std::log10(2.0);
    return static_cast<std::size_t>(std::min(std::ceil(certain) + 2, most));
}

double gamma_bound(double roundings, double unit) {
    const double ku = roundings * unit;
    return ku < 1 ? ku / (1 - ku) * slack : infinity;
}

double rounding_error(double roundings, double unit, double magnitude, double unit_of_magnitude) {
    const double gamma = gamma_bound(roundings, unit),
                 gamma_of_sum = gamma_bound(roundings, unit_of_magnitude);
    return gamma_of_sum < 0.5 ? gamma * magnitude / (1 - gamma_of_sum) : infinity;
}

} // namespace libperm
