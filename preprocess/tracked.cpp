#include "preprocess/tracked.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// Below this a product's rounding error may itself be rounded; far above it is where magnitudes are.
constexpr double tiny = 0x1p-900;

Tracked normalised(double value, double magnitude, std::int64_t exp2, std::int32_t roundings) {
    if (magnitude == 0) return {};
    if (magnitude != std::fabs(value)) magnitude *= 1 + 0x1p-51; // it was rounded apart from the value
    int exponent = 0;
    magnitude = std::frexp(magnitude, &exponent);
    return {std::ldexp(value, -exponent), magnitude, exp2 + exponent, roundings};
}

// x as a multiple of 2^exp2, exp2 >= x.exp2.
double shifted(double x, std::int64_t exp2_of_x, std::int64_t exp2) {
    return std::ldexp(x, static_cast<int>(std::max<std::int64_t>(exp2_of_x - exp2, -5000)));
}

} // namespace

Tracked tracked(double x) {
    if (x == 0) return {};
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    return {mantissa, std::fabs(mantissa), exponent, 0};
}

Tracked operator*(const Tracked &x, const Tracked &y) {
    const double value = x.value * y.value;
    const bool exact =
        x.value == 0 || y.value == 0 || (std::fabs(value) >= tiny && std::fma(x.value, y.value, -value) == 0);
    return normalised(value, x.magnitude * y.magnitude, x.exp2 + y.exp2,
                      x.roundings + y.roundings + (exact ? 0 : 1));
}

Tracked operator+(const Tracked &x, const Tracked &y) {
    if (x.magnitude == 0) return y;
    if (y.magnitude == 0) return x;
    const std::int64_t exp2 = std::max(x.exp2, y.exp2);
    const double a = shifted(x.value, x.exp2, exp2), b = shifted(y.value, y.exp2, exp2);
    const double sum = a + b;
    const double b_part = sum - a; // Knuth's 2Sum: what the addition lost
    const double lost = (a - (sum - b_part)) + (b - b_part);
    const bool exact = lost == 0 && (x.exp2 == exp2 || std::fabs(a) >= tiny || x.value == 0) &&
                       (y.exp2 == exp2 || std::fabs(b) >= tiny || y.value == 0);
    const double magnitude = shifted(x.magnitude, x.exp2, exp2) + shifted(y.magnitude, y.exp2, exp2);
    return normalised(sum, magnitude, exp2, std::max(x.roundings, y.roundings) + (exact ? 0 : 1));
}

Tracked operator/(const Tracked &x, const Tracked &y) {
    const double value = x.value / y.value;
    const bool exact = x.value == 0 || (std::fabs(value) >= tiny && std::fma(value, y.value, -x.value) == 0);
    return normalised(value, x.magnitude / std::fabs(y.value), x.exp2 - y.exp2,
                      x.roundings + (exact ? 0 : 1));
}

} // namespace libperm
