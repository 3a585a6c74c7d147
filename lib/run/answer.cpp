#include "lib/run/answer.hpp"

#include "lib/number/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// The number of all decimals: num / 2^k has those of num 5^k.
double digits_of_bits(const mpq_class &x) {
    const auto twos = static_cast<double>(mpz_sizeinbase(x.get_den_mpz_t(), 2) - 1);
    const auto bits = static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2));
    return std::ceil(bits * std::log10(2.0) + twos * std::log10(5.0)) + 1;
}

std::size_t digits_of(const Outcome &outcome, const Gaussian &x) {
    if (!outcome.exact) return written_digits(relative_error(outcome));
    constexpr double least = 17, most = 3e6;
    const double exact = std::max(digits_of_bits(x.re), digits_of_bits(x.im));
    return static_cast<std::size_t>(exact <= most ? std::max(exact, least) : least);
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
    answer.error = written_error(outcome.value, outcome.error);
    if (!outcome.wide) {
        const bool all = outcome.exact;
        answer.text = to_text(outcome.value, all ? every_digit : written_digits(relative_error(outcome)));
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

void put(const Answer &answer, perm_result &result) {
    result.re = answer.re;
    result.im = answer.im;
    result.mantissa_re = answer.mantissa_re;
    result.mantissa_im = answer.mantissa_im;
    result.exp2 = answer.exp2;
    result.abs_error_bound = to_double_up(answer.error);
}

} // namespace libperm
