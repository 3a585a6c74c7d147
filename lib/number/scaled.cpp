#include "lib/number/scaled.hpp"

#include "jit/text/text.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/mpfr_number.hpp"

#include <algorithm>
#include <array>
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

namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t of_16_digits = 10000000000000000, of_17_digits = 10 * of_16_digits; // 10^16, 10^17

constexpr auto powers_of_5 = [] {
    std::array<UInt128, 56> powers{1}; // 5^55 < 2^128
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = 5 * powers[k - 1];
    return powers;
}();

constexpr auto pairs = [] { // "00", "01", ... "99"
    std::array<char, 200> text{};
    for (std::size_t k = 0; k < 100; ++k) {
        text[2 * k] = static_cast<char>('0' + k / 10);
        text[2 * k + 1] = static_cast<char>('0' + k % 10);
    }
    return text;
}();

void write_pair(std::uint64_t x, char *to) {
    to[0] = pairs[2 * x];
    to[1] = pairs[2 * x + 1];
}

// mantissa * 2^exp2 * 10^power to the nearest integer, the even one of two; it is below 2^63.
std::uint64_t rounded_product(std::uint64_t mantissa, int exp2, int power) {
    const UInt128 factor = powers_of_5[static_cast<std::size_t>(power)];
    const UInt128 low = static_cast<UInt128>(mantissa) * static_cast<std::uint64_t>(factor);
    const UInt128 high =
        static_cast<UInt128>(mantissa) * static_cast<std::uint64_t>(factor >> 64) + (low >> 64);
    const auto last = static_cast<std::uint64_t>(low); // the product is high * 2^64 + last
    const int shift = -(exp2 + power);
    if (shift <= 0) return last << -shift;
    std::uint64_t whole = 0;
    UInt128 rest = 0, half = 0; // of a unit; sticky: whether there is more of it
    bool sticky = false;
    if (shift < 64) {
        whole = static_cast<std::uint64_t>(high << (64 - shift)) | last >> shift;
        rest = last & ((std::uint64_t{1} << shift) - 1);
        half = UInt128{1} << (shift - 1);
    } else if (shift == 64) {
        whole = static_cast<std::uint64_t>(high);
        rest = last;
        half = UInt128{1} << 63;
    } else {
        whole = static_cast<std::uint64_t>(high >> (shift - 64));
        rest = high & ((UInt128{1} << (shift - 64)) - 1);
        half = UInt128{1} << (shift - 65);
        sticky = last != 0;
    }
    const bool is_above = rest > half || (rest == half && (sticky || (whole & 1) != 0));
    return whole + (is_above ? 1 : 0);
}

} // namespace

char *write_17_digits(double x, char *to) {
    const double size = std::fabs(x);
    if (!(size >= 1e-38 && size < 1e17)) return nullptr;
    const auto bits = std::bit_cast<std::uint64_t>(size);
    const int exp2 = static_cast<int>(bits >> 52) - 1075;
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    int exp10 = ((exp2 + 52) * 78913) >> 18; // of 10, by log10(2): it, or one too few
    std::uint64_t digits = rounded_product(mantissa, exp2, 16 - exp10);
    if (digits >= of_17_digits) digits = rounded_product(mantissa, exp2, 16 - ++exp10);
    if (digits == of_17_digits) {
        digits = of_16_digits;
        ++exp10;
    }
    if (x < 0) *to++ = '-';
    to[0] = static_cast<char>('0' + digits / of_16_digits);
    to[1] = '.';
    std::uint64_t left = digits % of_16_digits;
    const std::uint64_t eights[] = {left / 100000000, left % 100000000};
    for (int k = 0; k < 2; ++k) {
        std::uint64_t eight = eights[k];
        for (int pair = 3; pair >= 0; --pair, eight /= 100)
            write_pair(eight % 100, to + 2 + 8 * k + 2 * pair);
    }
    to[18] = 'e';
    to[19] = exp10 < 0 ? '-' : '+';
    write_pair(static_cast<std::uint64_t>(exp10 < 0 ? -exp10 : exp10), to + 20);
    return to + 22;
}

namespace {

constexpr long most_exponent = 100000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits alone, at least one, as an integer.
std::optional<mpz_class> parse_digits(const std::string &digits) {
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
    return mpz_class(digits, 10);
}

std::optional<long> parse_exponent(std::string_view text) {
    if (text.starts_with("+-")) return {};
    if (text.starts_with('+')) text.remove_prefix(1);
    long exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc{} || end != text.data() + text.size() || std::abs(exponent) > most_exponent)
        return {};
    return exponent;
}

mpz_class power_of_ten(long exponent) {
    mpz_class power;
    mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(exponent));
    return power;
}

// Reads a number without a sign.
std::optional<mpq_class> parse_magnitude(std::string_view text) {
    if (const std::size_t slash = text.find('/'); slash != text.npos) {
        const auto num = parse_digits(std::string(text.substr(0, slash)));
        const auto den = parse_digits(std::string(text.substr(slash + 1)));
        if (!num || !den || *den == 0) return {};
        mpq_class quotient(*num, *den);
        quotient.canonicalize();
        return quotient;
    }
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    long exponent = 0;
    if (e < text.size()) {
        const auto parsed = parse_exponent(text.substr(e + 1));
        if (!parsed) return {};
        exponent = *parsed;
    }
    const std::string_view mantissa = text.substr(0, e);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    std::string digits(mantissa.substr(0, point));
    if (point < mantissa.size()) {
        digits += mantissa.substr(point + 1);
        exponent -= static_cast<long>(mantissa.size() - point - 1);
    }
    const auto whole = parse_digits(digits);
    if (!whole) return {};
    if (exponent >= 0) return mpq_class(*whole * power_of_ten(exponent));
    mpq_class quotient(*whole, power_of_ten(-exponent));
    quotient.canonicalize();
    return quotient;
}

std::optional<mpq_class> parse_real(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    auto x = parse_magnitude(text);
    if (x && is_negative) *x = -*x;
    return x;
}

} // namespace

std::optional<Gaussian> parse_number(std::string_view text) {
    const std::size_t blank = text.find(' ');
    const auto re = parse_real(text.substr(0, blank));
    if (!re) return {};
    if (blank == text.npos) return Gaussian{*re, 0};
    const auto im = parse_real(text.substr(blank + 1));
    if (!im) return {};
    return Gaussian{*re, *im};
}

} // namespace libperm
