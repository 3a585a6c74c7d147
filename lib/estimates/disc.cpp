#include "lib/estimates/disc.hpp"

#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

using Complex = std::complex<double>;

Disc normal(Disc x) {
    const double size = std::max(std::abs(x.middle), x.radius);
    if (size == 0 || !std::isfinite(size)) return x;
    const int exponent = std::ilogb(size) + 1;
    return {{std::ldexp(x.middle.real(), -exponent), std::ldexp(x.middle.imag(), -exponent)},
            std::ldexp(x.radius, -exponent),
            x.exp2 + exponent};
}

} // namespace

double as_double(const Scaled &x, std::int64_t exp2) {
    return std::ldexp(x.mantissa, static_cast<int>(std::clamp<std::int64_t>(x.exp2 - exp2, -5000, 5000)));
}

Disc operator*(const Disc &x, const Disc &y) {
    const double size = std::abs(x.middle), other = std::abs(y.middle);
    const double radius = size * y.radius + other * x.radius + x.radius * y.radius + 0x1p-50 * size * other;
    return normal({x.middle * y.middle, radius * (1 + 0x1p-48), x.exp2 + y.exp2});
}

Disc disc_of(const Ball &x) {
    const std::int64_t exp2 = x.value.mantissa == 0 ? x.error.exp2 : x.value.exp2;
    return normal({{as_double(x.value, exp2), 0}, as_double(x.error, exp2), exp2});
}

Disc disc_of(const WideBall &x) {
    const Tracked re = tracked_of(x.value.re), im = tracked_of(x.value.im);
    const std::int64_t exp2 = is_zero(x.value)                     ? x.error.exp2
                              : re.value == 0                      ? im.exp2
                              : im.value == 0 || re.exp2 > im.exp2 ? re.exp2
                                                                   : im.exp2;
    const Complex middle(as_double({re.value, re.exp2}, exp2), as_double({im.value, im.exp2}, exp2));
    return normal({middle, as_double(x.error, exp2) + 0x1p-51 * std::abs(middle), exp2});
}

} // namespace libperm
