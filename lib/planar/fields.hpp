// The numbers that determinants are made of: residues modulo a prime below 2^62, and balls.
#pragma once

#include "lib/number/ball.hpp"
#include "lib/number/mpfr_number.hpp"
#include "lib/number/residues.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace libperm {

class ModularField {
  public:
    using Number = std::uint64_t;

    explicit ModularField(std::uint64_t prime) : field_(prime), product_(field_.to(1)) {}

    Number number(std::uint64_t x) const { return field_.to(x); }
    static Number zero() { return 0; }
    Number one() const { return field_.to(1); }
    static bool is_zero(Number x) { return x == 0; }
    static bool may_be_zero(Number x) { return x == 0; }
    void add(Number &to, Number x) const { to = field_.add(to, x); }
    void negate(Number &to) const { to = field_.subtract(0, to); }
    void multiply(Number &to, Number x) const { to = field_.multiply(to, x); }
    void subtract_products(Number &to, const Number *x, const Number *y, std::size_t count) const {
        to = field_.subtract(to, field_.sum_of_products(x, y, count));
    }
    Number inverse(Number x) const { return field_.power(x, field_.prime() - 2); }

    void multiply_product(Number pivot) { product_ = field_.multiply(product_, pivot); }
    void multiply_bound(const Number *, std::size_t) { product_ = 0; } // all are 0
    void negate_product() { product_ = field_.subtract(0, product_); }
    Number product() const { return product_; }

    void subtract(Number &to, Number x) const { to = field_.subtract(to, x); }
    std::uint64_t residue(Number x) const { return field_.from(x); }

  private:
    Montgomery field_;
    Number product_;
};

// Real numbers of so many bits, each with a bound of its error, as what a determinant is made of.
//
// A ball |truth - middle| <= radius goes through each operation: what the radii do to it, and half a unit in
// the last place of the middle for its rounding, are rounded up.

class BallField {
  public:
    struct Number {
        MpfrNumber middle;
        Radius radius = {};
    };

    explicit BallField(mpfr_prec_t bits) : bits_(bits), scratch_(bits), product_(bits) {
        mpfr_set_ui(product_, 1, MPFR_RNDN);
    }

    Number zero() const { return {MpfrNumber(bits_), {}}; }
    Number one() const {
        Number x = zero();
        mpfr_set_ui(x.middle, 1, MPFR_RNDN);
        return x;
    }
    Number number(double x, std::int64_t exp2 = 0) const { // exact
        Number out = zero();
        mpfr_set_d(out.middle, x, MPFR_RNDN);
        mpfr_mul_2si(out.middle, out.middle, static_cast<long>(exp2), MPFR_RNDN);
        return out;
    }
    Number number(const mpq_class &x) const {
        Number out = zero();
        if (mpfr_set_q(out.middle, x.get_mpq_t(), MPFR_RNDN) != 0) out.radius = rounding(out.middle);
        return out;
    }
    static bool is_zero(const Number &x) { return x.radius.is_zero() && mpfr_zero_p(x.middle) != 0; }
    // Or is hardly certain not to be: its inverse would be known by nothing.
    static bool may_be_zero(const Number &x) {
        return Radius::below_difference(at_least(x.middle), x.radius).is_zero();
    }

    void add(Number &to, const Number &x) {
        mpfr_add(to.middle, to.middle, x.middle, MPFR_RNDN);
        to.radius = to.radius + x.radius + rounding(to.middle);
    }
    static void negate(Number &to) { mpfr_neg(to.middle, to.middle, MPFR_RNDN); }
    void multiply(Number &to, const Number &x) {
        const Radius radius = radius_of_product(to, x);
        mpfr_mul(to.middle, to.middle, x.middle, MPFR_RNDN);
        to.radius = radius + rounding(to.middle);
    }
    void subtract_products(Number &to, const Number *x, const Number *y, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            if (is_zero(x[k]) || is_zero(y[k])) continue;
            mpfr_mul(scratch_, x[k].middle, y[k].middle, MPFR_RNDN);
            const Radius radius = radius_of_product(x[k], y[k]) + rounding(scratch_);
            mpfr_sub(to.middle, to.middle, scratch_, MPFR_RNDN);
            to.radius = to.radius + radius + rounding(to.middle);
        }
    }
    // |1 / x - 1 / m| <= r / (|m| (|m| - r)) for x within r of m; of one that may not be 0.
    Number inverse(const Number &x) {
        Number out = zero();
        mpfr_ui_div(out.middle, 1, x.middle, MPFR_RNDN);
        const Radius least = at_least(x.middle), rest = Radius::below_difference(least, x.radius);
        out.radius = x.radius / least / rest + rounding(out.middle);
        return out;
    }

    void multiply_product(const Number &pivot) {
        const Radius share = pivot.radius / at_least(pivot.middle) + unit();
        relative_ = (relative_ + share.over(0) * (1 + relative_)) * (1 + 0x1p-49) + 0x1p-1060;
        mpfr_mul(product_, product_, pivot.middle, MPFR_RNDN);
    }
    // A row of what is left of a determinant, which is at most the product of the sums of these rows'
    // absolute values.
    void multiply_bound(const Number *row, std::size_t count) {
        Radius sum;
        for (std::size_t k = 0; k < count; ++k) sum = sum + at_most(row[k].middle) + row[k].radius;
        bound_ = is_bound_ ? bound_ * sum : sum;
        is_bound_ = true;
    }
    void negate_product() { mpfr_neg(product_, product_, MPFR_RNDN); }
    bool knows_product() const { return relative_ < 0x1p500; }
    Number product() const {
        Number out{MpfrNumber(bits_), at_most(product_) * Radius(relative_, 0)};
        if (is_bound_)
            out.radius = (at_most(product_) + out.radius) * bound_;
        else
            mpfr_set(out.middle, product_, MPFR_RNDN);
        return out;
    }
    double relative_error() const { return relative_; } // |truth - product| <= that |product|

    void subtract(Number &to, const Number &x) {
        mpfr_sub(to.middle, to.middle, x.middle, MPFR_RNDN);
        to.radius = to.radius + x.radius + rounding(to.middle);
    }

    static Radius at_least(const MpfrNumber &x) { return size(x, MPFR_RNDZ); }
    static Radius at_most(const MpfrNumber &x) { return size(x, MPFR_RNDA); }

  private:
    static Radius size(const MpfrNumber &x, mpfr_rnd_t direction) {
        if (mpfr_zero_p(x) != 0) return {};
        long exponent = 0;
        const double mantissa = std::fabs(mpfr_get_d_2exp(&exponent, x, direction));
        return {mantissa, exponent};
    }
    // Half a unit in the last place, relative to the number, at most.
    Radius unit() const { return {1, -static_cast<std::int64_t>(bits_)}; }
    Radius rounding(const MpfrNumber &x) const { return at_most(x) * unit(); }
    static Radius radius_of_product(const Number &x, const Number &y) {
        return at_most(x.middle) * y.radius + at_most(y.middle) * x.radius + x.radius * y.radius;
    }

    mpfr_prec_t bits_;
    MpfrNumber scratch_, product_;
    double relative_ = 0; // |truth - product_| <= that |product_|
    Radius bound_;        // of what is left to be multiplied
    bool is_bound_ = false;
};

} // namespace libperm
