#include "lib/bounds/interval.hpp"

#include "lib/number/bits.hpp"
#include "lib/number/infinity.hpp"
#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

Scaled below(double mantissa, std::int64_t exp2) { return make_scaled(std::nextafter(mantissa, 0.0), exp2); }
Scaled above(double mantissa, std::int64_t exp2) {
    return make_scaled(std::nextafter(mantissa, infinity), exp2);
}

Interval around(double size, std::int64_t exp2, const Scaled &error) {
    if (error.mantissa == 0) return {make_scaled(size, exp2), make_scaled(size, exp2)};
    if (size == 0) return {{}, error};
    // Units are 2^exp2, and are rounded up: what is far below the last bit counts as a part of it.
    const std::int64_t apart = std::clamp<std::int64_t>(error.exp2 - exp2, -100, 1000);
    const double off = error.mantissa * power_of_two(static_cast<int>(apart));
    const double lower = size - off;
    return {lower > 0 ? below(lower, exp2) : Scaled{}, above(size + off, exp2)};
}

Scaled product(const Scaled &x, const Scaled &y, bool up) {
    if (x.mantissa == 0 || y.mantissa == 0) return {};
    const double mantissa = x.mantissa * y.mantissa; // at least 1/4, or infinite
    const std::int64_t exp2 = x.exp2 + y.exp2;
    if (!(mantissa < infinity) || std::fma(x.mantissa, y.mantissa, -mantissa) == 0)
        return make_scaled(mantissa, exp2);
    return up ? above(mantissa, exp2) : below(mantissa, exp2);
}

} // namespace

Interval interval_of(const Ball &ball) {
    return around(std::fabs(ball.value.mantissa), ball.value.exp2, ball.error);
}

Interval interval_of(const WideBall &ball) {
    if (is_real(ball.value)) {
        const Tracked x = tracked_of(abs(ball.value.re));
        if (x.roundings == 0) return around(x.value, x.exp2, ball.error);
    }
    const Scaled size = size_of(ball.value); // too large by 2^-48 at most
    return {around(size.mantissa * (1 - 0x1p-47), size.exp2, ball.error).lower,
            around(size.mantissa, size.exp2, ball.error).upper};
}

Interval operator*(const Interval &x, const Interval &y) {
    return {product(x.lower, y.lower, false), product(x.upper, y.upper, true)};
}

Interval operator/(const Interval &x, const mpz_class &y) {
    const Tracked divisor = tracked_of(mpq_class(y));
    const auto quotient = [&](const Scaled &of, bool up) -> Scaled {
        const double mantissa = of.mantissa / divisor.value;
        const std::int64_t exp2 = of.exp2 - divisor.exp2;
        if (of.mantissa == 0 ||
            (divisor.roundings == 0 && std::fma(mantissa, divisor.value, -of.mantissa) == 0))
            return make_scaled(mantissa, exp2);
        return up ? above(mantissa * (1 + 0x1p-52), exp2) : below(mantissa * (1 - 0x1p-52), exp2);
    };
    return {quotient(x.lower, false), quotient(x.upper, true)};
}

double log2_gap(const Interval &x) {
    if (x.is_point()) return 0;
    if (x.lower.mantissa == 0) return infinity;
    return std::log2(x.upper.mantissa / x.lower.mantissa) + static_cast<double>(x.upper.exp2 - x.lower.exp2);
}

} // namespace libperm
