// Real numbers of so many bits, each with a bound of its error, as what a determinant is made of.
//
// A ball |truth - middle| <= radius goes through each operation: what the radii do to it, and half a unit in
// the last place of the middle for its rounding, are rounded up. Radii are doubles: where one overflows it is
// infinite, and nothing is known.
#pragma once

#include "lib/number/mpfr_number.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace libperm {

class BallField {
  public:
    struct Number {
        MpfrNumber middle;
        double radius = 0;
    };

    explicit BallField(mpfr_prec_t bits)
        : bits_(bits), unit_(std::ldexp(1.0, -static_cast<int>(bits))), scratch_(bits), product_(bits) {
        mpfr_set_ui(product_, 1, MPFR_RNDN);
    }

    Number zero() const { return {MpfrNumber(bits_), 0}; }
    static bool is_zero(const Number &x) { return x.radius == 0 && mpfr_zero_p(x.middle) != 0; }
    static bool may_be_zero(const Number &x) {
        return !(std::fabs(mpfr_get_d(x.middle, MPFR_RNDZ)) > x.radius);
    }

    void add(Number &to, const Number &x) {
        mpfr_add(to.middle, to.middle, x.middle, MPFR_RNDN);
        to.radius = up(to.radius + x.radius + rounding(to.middle));
    }
    void multiply(Number &to, const Number &x) {
        const double radius = radius_of_product(to, x);
        mpfr_mul(to.middle, to.middle, x.middle, MPFR_RNDN);
        to.radius = up(radius + rounding(to.middle));
    }
    void subtract_products(Number &to, const Number *x, const Number *y, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            if (is_zero(x[k]) || is_zero(y[k])) continue;
            mpfr_mul(scratch_, x[k].middle, y[k].middle, MPFR_RNDN);
            const double radius = radius_of_product(x[k], y[k]) + rounding(scratch_);
            mpfr_sub(to.middle, to.middle, scratch_, MPFR_RNDN);
            to.radius = up(to.radius + radius + rounding(to.middle));
        }
    }
    // |1 / x - 1 / m| <= r / (|m| (|m| - r)) for x within r of m.
    Number inverse(const Number &x) {
        Number out = zero();
        mpfr_ui_div(out.middle, 1, x.middle, MPFR_RNDN);
        const double least = std::fabs(mpfr_get_d(x.middle, MPFR_RNDZ));
        out.radius = up(x.radius / (least * (least - x.radius) * (1 - 0x1p-50)) + rounding(out.middle));
        if (!(least > x.radius)) out.radius = HUGE_VAL;
        return out;
    }

    void multiply_product(const Number &pivot) {
        const double least = std::fabs(mpfr_get_d(pivot.middle, MPFR_RNDZ));
        relative_ = up(relative_ + (pivot.radius / least + unit_) * (1 + relative_));
        mpfr_mul(product_, product_, pivot.middle, MPFR_RNDN);
    }
    void negate_product() { mpfr_neg(product_, product_, MPFR_RNDN); }
    const MpfrNumber &product() const { return product_; }
    double relative_error() const { return relative_; } // |truth - product| <= that |product|

  private:
    static double up(double x) { return x * (1 + 0x1p-50) + 0x1p-1070; }
    static double size(const MpfrNumber &x) { return std::fabs(mpfr_get_d(x, MPFR_RNDA)); }
    double rounding(const MpfrNumber &x) const { return mpfr_zero_p(x) != 0 ? 0 : size(x) * unit_; }
    static double radius_of_product(const Number &x, const Number &y) {
        return up(up(size(x.middle) * y.radius) + up(size(y.middle) * x.radius) + x.radius * y.radius);
    }

    mpfr_prec_t bits_;
    double unit_; // half a unit in the last place of a number, relative to it, at most
    MpfrNumber scratch_, product_;
    double relative_ = 0;
};

} // namespace libperm
