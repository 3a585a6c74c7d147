#include "preprocess/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

std::int64_t exponent_of(const mpq_class &x) {
    if (x == 0) return std::numeric_limits<std::int64_t>::min();
    const auto bits = [](const mpz_class &z) {
        return static_cast<std::int64_t>(mpz_sizeinbase(z.get_mpz_t(), 2));
    };
    return bits(x.get_num()) - bits(x.get_den()) + 1;
}

mpq_class shifted(const mpq_class &x, std::int64_t exp2) {
    mpq_class out;
    if (exp2 >= 0)
        mpq_mul_2exp(out.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(out.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return out;
}

std::int64_t integer_bytes(const mpz_class &x) {
    constexpr std::int64_t least = 32, grain = 16; // of a block of the allocator
    const auto limbs = static_cast<std::int64_t>(x.get_mpz_t()->_mp_alloc);
    const std::int64_t digits = limbs == 0 ? 0 : std::max(least, (8 * limbs + 8 + grain - 1) / grain * grain);
    return std::int64_t{sizeof x} + digits;
}

std::int64_t number_bytes(const Gaussian &x) {
    return integer_bytes(x.re.get_num()) + integer_bytes(x.re.get_den()) + integer_bytes(x.im.get_num()) +
           integer_bytes(x.im.get_den());
}

Gaussian rounded(const Gaussian &x, int bits) {
    if (is_zero(x)) return x;
    const std::int64_t unit = std::max(exponent_of(x.re), exponent_of(x.im)) - bits - 2;
    const auto part = [unit](const mpq_class &q) {
        const mpq_class scaled = shifted(q, -unit) + mpq_class(1, 2);
        mpz_class whole;
        mpz_fdiv_q(whole.get_mpz_t(), scaled.get_num_mpz_t(), scaled.get_den_mpz_t());
        return shifted(mpq_class(whole), unit);
    };
    return {part(x.re), part(x.im)};
}

Gaussian operator*(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re * y.re, 0};
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

Gaussian operator+(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re + y.re, 0};
    return {x.re + y.re, x.im + y.im};
}

Gaussian operator/(const Gaussian &x, const Gaussian &y) {
    if (is_real(x) && is_real(y)) return {x.re / y.re, 0};
    const mpq_class norm = y.re * y.re + y.im * y.im;
    return {(x.re * y.re + x.im * y.im) / norm, (x.im * y.re - x.re * y.im) / norm};
}

} // namespace libperm
