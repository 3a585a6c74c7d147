#include "lib/glynn/term_answer.hpp"

#include "lib/number/double_double.hpp"

#include <cmath>

namespace libperm {

double roundings_of_term(const GridColumns &columns, int n) {
    return (n - 1) * product_roundings(columns.arithmetic()) + (columns.is_split() ? n : 0);
}

void add(const TermSum &part, TermSum &sum) {
    const auto put = [](double x, double rest, double &to, double &rests) {
        const DoubleDouble s = two_sum(to, x);
        to = s.hi;
        rests += s.lo + rest;
    };
    put(part.re, part.re_rest, sum.re, sum.re_rest);
    put(part.im, part.im_rest, sum.im, sum.im_rest);
    sum.mass += part.mass;
}

double size_of(const TermSum &sum) {
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest, square = re * re + im * im;
    return square > 0x1p-900 ? std::sqrt(square) : std::hypot(re, im);
}

TapeAnswer answer_of(const TermSum &sum, double error, std::int64_t exp2) {
    TapeAnswer answer;
    answer.re = make_scaled(sum.re + sum.re_rest, exp2);
    answer.im = make_scaled(sum.im + sum.im_rest, exp2);
    answer.exact = error == 0;
    if (!answer.exact) answer.set_error(make_scaled(size_of(sum), exp2), make_scaled(error, exp2));
    return answer;
}

} // namespace libperm
