#include "lib/ball.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double u = 0x1p-53;
constexpr double up = 1 + 0x1p-50; // more than the roundings of computing a bound

Scaled times(const Scaled &x, double factor) { return make_scaled(x.mantissa * factor, x.exp2); }

Scaled product(const Scaled &x, const Scaled &y) {
    if (x.mantissa == 0 || y.mantissa == 0) return {}; // of an infinite error too
    return make_scaled(x.mantissa * y.mantissa, x.exp2 + y.exp2);
}

Scaled absolute(const Scaled &x) { return {std::fabs(x.mantissa), x.exp2}; }

// a + b, both >= 0: never less than the sum.
Scaled sum_up(const Scaled &a, const Scaled &b) {
    if (a.mantissa == 0) return b;
    if (b.mantissa == 0) return a;
    const std::int64_t exp2 = std::max(a.exp2, b.exp2);
    const auto shifted = [exp2](const Scaled &x) {
        return std::ldexp(x.mantissa, static_cast<int>(std::max<std::int64_t>(x.exp2 - exp2, -200)));
    };
    return make_scaled((shifted(a) + shifted(b)) * up, exp2);
}

} // namespace

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
    for (const Scaled &part : {product(absolute(x.value), y.error), product(absolute(y.value), x.error),
                               product(x.error, y.error)})
        out.error = sum_up(out.error, times(part, up));
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

} // namespace libperm
