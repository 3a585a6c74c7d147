#include "lib/run/answer.hpp"

#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double most_digits = 3e6;

// That tell a number from all others of so many bits.
double digits_of_bits(const mpq_class &x) {
    return std::ceil(static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2)) * std::log10(2.0)) + 1;
}

// One digit more than is certain, and never fewer than a double has.
std::size_t digits_of(const Outcome &outcome, const Gaussian &x) {
    constexpr double least = 17, most = most_digits;
    const Scaled error = relative_error(outcome);
    if (error.mantissa == 0) {
        const double exact = std::max(digits_of_bits(x.re), digits_of_bits(x.im));
        return static_cast<std::size_t>(exact <= most ? std::max(exact, least) : least);
    }
    const double digits =
        std::ceil(-std::log10(error.mantissa) - static_cast<double>(error.exp2) * std::log10(2.0)) + 1;
    return static_cast<std::size_t>(digits > least ? std::min(digits, most) : least);
}

std::string text_of(const Outcome &outcome, const Gaussian &x, bool fractions) {
    const std::size_t digits = digits_of(outcome, x);
    const bool whole = outcome.exact && (fractions || is_integer(x));
    const auto text = [&](const mpq_class &part) { return whole ? to_text(part) : to_text(part, digits); };
    if (is_real(x)) return text(x.re);
    const std::string im = text(x.im);
    return text(x.re) + (im.front() == '-' ? "" : "+") + im + "i";
}

} // namespace

Answer answer_of(const Outcome &outcome, bool fractions) {
    Answer answer;
    if (!outcome.wide) {
        answer.text = to_text(outcome.value, outcome.exact);
        answer.re = to_double(outcome.value);
        answer.mantissa_re = outcome.value.mantissa;
        answer.exp2 = outcome.value.exp2;
        return answer;
    }
    const Gaussian &x = *outcome.wide;
    answer.text = text_of(outcome, x, fractions);
    const Parts value = parts_of(x, 0, Arithmetic::complex);
    answer.re = value[0];
    answer.im = value[2];
    if (is_zero(x)) return answer;
    const std::int64_t exp2 = std::max(exponent_of(x.re), exponent_of(x.im));
    const Parts mantissas = parts_of(x, exp2, Arithmetic::complex);
    int exponent = 0;
    std::frexp(std::max(std::fabs(mantissas[0]), std::fabs(mantissas[2])), &exponent);
    answer.mantissa_re = std::ldexp(mantissas[0], -exponent);
    answer.mantissa_im = std::ldexp(mantissas[2], -exponent);
    answer.exp2 = exp2 + exponent;
    return answer;
}

} // namespace libperm
