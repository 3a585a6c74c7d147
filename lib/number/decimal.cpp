#include "lib/number/decimal.hpp"

#include <algorithm>
#include <charconv>

namespace libperm {
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
