#include "lib/glynn/minors/minor_bounds.hpp"

#include "lib/glynn/term_answer.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/bits.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double of_result = 0x1.05p-53; // the last addition

} // namespace

MinorBounds::MinorBounds(const GridMatrix &lines, const SumShape &shape)
    : is_complex_(lines.view().is_complex()), shape_(shape) {
    const CountedColumns columns = lines.view();
    const int factors = lines.rows_in_all();
    const auto share = [&](int n) {
        // A weight stands before the product: one multiplication more.
        const double gamma = gamma_bound(roundings_of_term(columns, n) +
                                         product_roundings(columns.arithmetic()) + shape.factor_roundings);
        return gamma / (1 - gamma) + shape.additions * shape.additions * 0x1p-104;
    };
    share_ = share(factors - 1) * (1 + 0x1p-20);
    share_of_whole_ = share(factors) * (1 + 0x1p-20);
    const int n = std::max(factors, lines.columns_in_all());
    underflow_ = (n + 2) * std::exp2(1.5 * n - 1066);
    for (int i = -1; i < columns.rows; ++i) {
        const double moved = lines.moved_without(i);
        moved_.push_back(moved == 0 ? 0 : std::ldexp(moved, shape.halvings));
        units_.push_back(lines.unit_without(i));
    }
}

double MinorBounds::error(const TermSum &sum, int i) const {
    const auto k = static_cast<std::size_t>(i) + 1; // -1: of the permanent
    const int unit = units_[k];
    if (unit > -900 && sum.mass < std::ldexp(1.0, unit + 52)) return 0;
    return (i < 0 ? share_of_whole_ : share_) * sum.mass + of_result * size_of(sum) + underflow_ + moved_[k];
}

double MinorBounds::put(const TermSum &sum, int i, std::int64_t exp2, double factor, double *to) const {
    const std::int64_t shift = exp2 - shape_.halvings;
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest;
    double error_here = error(sum, i) * factor;
    if (factor != 1) error_here += (std::fabs(re) + std::fabs(im)) * factor * 0x1p-53;
    const double size = std::fabs(re) + std::fabs(im);
    const bool is_usual = std::abs(shift) < 800 && (size == 0 || (size > 0x1p-150 && size < 0x1p150)) &&
                          error_here < 0x1p150 && (error_here == 0 || error_here > 0x1p-150) &&
                          (re == 0 || std::fabs(re) > 0x1p-180) && (im == 0 || std::fabs(im) > 0x1p-180);
    if (is_usual) {
        const double by = power_of_two(static_cast<int>(shift)); // nothing rounds
        to[0] = re * factor * by;
        if (is_complex_) to[1] = im * factor * by;
        return error_here * by * (1 + 0x1p-40);
    }
    double bound = to_double_up(make_scaled(error_here * (1 + 0x1p-40), shift));
    to[0] = rounded(make_scaled(re * factor, shift), bound);
    if (is_complex_) to[1] = rounded(make_scaled(im * factor, shift), bound);
    return bound;
}

} // namespace libperm
