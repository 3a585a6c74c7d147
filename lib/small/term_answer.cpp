#include "lib/small/term_answer.hpp"

#include "lib/number/ball.hpp"

#include <cmath>

namespace libperm {

double roundings_of_term(const GridColumns &columns, int n) {
    return (n - 1) * product_roundings(columns.arithmetic()) + (columns.is_split() ? n : 0);
}

double size_of(const TermSum &sum) {
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest, square = re * re + im * im;
    return square > 0x1p-900 ? std::sqrt(square) : std::hypot(re, im);
}

TapeAnswer answer_of(const TermSum &sum, double error, std::int64_t exp2) {
    TapeAnswer answer;
    answer.re = make_scaled(sum.re + sum.re_rest, exp2);
    answer.im = make_scaled(sum.im + sum.im_rest, exp2);
    answer.error = make_scaled(error, exp2);
    answer.rel_error_bound = to_double_up(relative_error(make_scaled(size_of(sum), exp2), answer.error));
    return answer;
}

} // namespace libperm
