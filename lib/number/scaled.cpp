#include "lib/number/scaled.hpp"

#include "jit/text/text.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/digits.hpp"
#include "lib/number/mpfr_number.hpp"
#include "preprocess/gaussian.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>

namespace libperm {
namespace {

constexpr std::int64_t most_integer_bits = 10000000; // three million digits: a second
constexpr std::size_t least_digits = 17, most_digits = 3000000;

} // namespace

Scaled make_scaled(double value, std::int64_t exp2) {
    if (value == 0) return {};
    if (!std::isfinite(value)) return {value, 0};
    if (const auto bits = std::bit_cast<std::uint64_t>(value);
        (bits >> 52 & 0x7ff) != 0) { // normal: sooner done
        constexpr std::uint64_t of_exponent = std::uint64_t{0x7ff} << 52, of_half = std::uint64_t{1022} << 52;
        return {std::bit_cast<double>((bits & ~of_exponent) | of_half),
                exp2 + static_cast<int>(bits >> 52 & 0x7ff) - 1022};
    }
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return {mantissa, exp2 + exponent};
}

double to_double(const Scaled &x) {
    if (std::abs(x.exp2) <= 1000) return x.mantissa * power_of_two(static_cast<int>(x.exp2)); // normal
    const std::int64_t exponent = std::clamp<std::int64_t>(x.exp2, -5000, 5000);
    return std::ldexp(x.mantissa, static_cast<int>(exponent));
}

double to_double_up(const Scaled &x) {
    const double nearest = to_double(x);
    const bool below = x.mantissa > 0 && x.exp2 < -1000; // where rounding can go down: among the subnormals
    return below ? std::nextafter(nearest, HUGE_VAL) : nearest;
}

double rounded(const Scaled &x, double &bound) {
    const double value = to_double(x);
    const Scaled back = make_scaled(value);
    const bool same = back.mantissa == x.mantissa && (x.mantissa == 0 || back.exp2 == x.exp2);
    if (!std::isfinite(value)) bound = HUGE_VAL;
    if (!same) bound = std::nextafter(bound + 0x1p-1074, HUGE_VAL); // it has become subnormal
    return value;
}

namespace {

// Writes as many digits as asked for of a number that is not 0.
std::string to_text(const MpfrNumber &value, std::size_t digits) {
    mpfr_exp_t point = 0; // the value is 0.DIGITS * 10^point
    const std::unique_ptr<char, void (*)(char *)> text(
        mpfr_get_str(nullptr, &point, 10, digits, value, MPFR_RNDN), mpfr_free_str);
    std::string all = text.get();
    const std::string sign = all.front() == '-' ? "-" : "";
    all.erase(0, sign.size());
    return formatted("{}{}.{}e{:+03}", sign, all.front(), all.substr(1),
                     static_cast<std::int64_t>(point) - 1);
}

bool is_in_range(const Scaled &x) { return x.exp2 > -1000 && x.exp2 <= 1000; } // of normal doubles

std::int64_t unit_of(const Scaled &x) { return unit_exponent(x.mantissa) + x.exp2; }

bool is_integer(const Scaled &x) { return unit_of(x) >= 0; }

// m 2^-k is m 5^k 10^-k: k digits and those before its point, or one more. 17 at least, and where they are
// too many.
std::size_t digits_of_fraction(const Scaled &x) {
    const double whole = std::floor(static_cast<double>(x.exp2) * std::log10(2.0)) + 1;
    const double digits = whole - static_cast<double>(unit_of(x));
    return digits > most_digits ? least_digits : std::max(least_digits, static_cast<std::size_t>(digits));
}

} // namespace

char *quick_text(const Scaled &x, std::size_t digits, char *to) {
    constexpr std::ptrdiff_t room = 32;
    if (x.mantissa == 0) {
        *to = '0';
        return to + 1;
    }
    if (!is_in_range(x)) return nullptr;
    const double value = to_double(x);
    if (digits == every_digit) {
        if (std::fabs(value) < 0x1p53 && value == std::trunc(value))
            return std::to_chars(to, to + room, static_cast<std::int64_t>(value)).ptr;
        if (is_integer(x)) return nullptr;
        digits = digits_of_fraction(x);
    }
    if (digits != least_digits) return nullptr;
    if (char *const end = write_17_digits(value, to)) return end;
    return std::to_chars(to, to + room, value, std::chars_format::scientific, 16).ptr;
}

std::string to_text(const Scaled &x, std::size_t digits) {
    char quick[32];
    if (char *const end = quick_text(x, digits, quick)) return {quick, end}; // as most often
    if (digits == every_digit) {
        if (is_integer(x) && x.exp2 <= most_integer_bits) {
            if (is_in_range(x)) return formatted("{:.0f}", to_double(x));
            return shifted(mpq_class(x.mantissa), x.exp2).get_num().get_str();
        }
        digits = is_integer(x) ? least_digits : digits_of_fraction(x);
    }
    if (is_in_range(x)) return formatted("{:.{}e}", to_double(x), digits - 1);
    const WholeExponentRange range;
    MpfrNumber value(53); // holds the mantissa
    mpfr_set_d(value, x.mantissa, MPFR_RNDN);
    mpfr_mul_2si(value, value, static_cast<long>(x.exp2), MPFR_RNDN);
    return to_text(value, digits);
}

std::string to_text(const mpq_class &x, std::size_t digits) {
    if (x == 0) return "0";
    const WholeExponentRange range;
    MpfrNumber value(static_cast<mpfr_prec_t>(digits * 4 + 64));
    mpfr_set_q(value, x.get_mpq_t(), MPFR_RNDN);
    return to_text(value, digits);
}

std::string to_text(const mpq_class &x) {
    const auto bits = mpz_sizeinbase(x.get_num_mpz_t(), 2) + mpz_sizeinbase(x.get_den_mpz_t(), 2);
    return bits <= static_cast<std::size_t>(most_integer_bits) ? x.get_str() : to_text(x, 17);
}

} // namespace libperm
