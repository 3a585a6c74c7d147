#include "lib/answer.hpp"

#include "lib/wide_value.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// One digit more than is certain, and never fewer than a double has.
std::size_t digits_of(const Outcome &outcome) {
    constexpr double least = 17, most = 3e6;
    const Scaled error = relative_error(outcome);
    if (error.mantissa == 0) return static_cast<std::size_t>(least);
    const double certain = -std::log10(error.mantissa) - static_cast<double>(error.exp2) * std::log10(2.0);
    return static_cast<std::size_t>(std::clamp(std::ceil(certain) + 1, least, most));
}

std::string text_of(const Outcome &outcome, const Gaussian &x) {
    const std::size_t digits = digits_of(outcome);
    const auto text = [&](const mpq_class &part) {
        return outcome.exact ? to_text(part) : to_text(part, digits);
    };
    if (is_real(x)) return text(x.re);
    const std::string im = text(x.im);
    return text(x.re) + (im.front() == '-' ? "" : "+") + im + "i";
}

} // namespace

Answer answer_of(const Outcome &outcome) {
    Answer answer;
    if (!outcome.wide) {
        answer.text = to_text(outcome.value, outcome.exact);
        answer.re = to_double(outcome.value);
        answer.mantissa_re = outcome.value.mantissa;
        answer.exp2 = outcome.value.exp2;
        return answer;
    }
    const Gaussian &x = *outcome.wide;
    answer.text = text_of(outcome, x);
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
