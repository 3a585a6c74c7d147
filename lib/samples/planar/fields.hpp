// The numbers that planar blocks are sampled in: doubles, two of them for a number, or as many bits as it
// takes. What is computed in them is proven by its result (lib/samples/planar/planar_shots.hpp), so that no
// errors are followed.
#pragma once

#include "jit/number/number.hpp"
#include "lib/number/mpfr_number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace libperm {

using TwoDoubles = number::DD<double>;

class DoubleField {
  public:
    using Number = double;

    static double number(double mantissa, std::int64_t exp2) {
        constexpr std::int64_t far = 3000; // beyond, it is 0 or infinite
        return std::ldexp(mantissa, static_cast<int>(std::clamp(exp2, -far, far)));
    }
    static double zero() { return 0; }
    static double one() { return 1; }
    static bool is_zero(double x) { return x == 0; }
    static bool is_larger(double x, double y) { return std::fabs(x) > std::fabs(y); }
    static void multiply(double &to, double x) { to *= x; }
    static void divide(double &to, double x) { to /= x; }
    static void subtract_multiple(double *to, double factor, const double *x, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] -= factor * x[k];
    }

    // |x| 2^-unit, of a number whose exponent is not above it.
    static std::int64_t exponent(double) { return 0; }
    static TwoDoubles::Number size(double x, std::int64_t) { return {std::fabs(x), 0}; }
};

class TwoDoublesField {
  public:
    using Number = TwoDoubles::Number;

    static Number number(double mantissa, std::int64_t exp2) {
        return {DoubleField::number(mantissa, exp2), 0};
    }
    static Number zero() { return {0, 0}; }
    static Number one() { return {1, 0}; }
    static bool is_zero(Number x) { return x.hi == 0; }
    static bool is_larger(Number x, Number y) { return std::fabs(x.hi) > std::fabs(y.hi); }
    static void multiply(Number &to, Number x) { to = TwoDoubles::multiply(to, x); }
    static void divide(Number &to, Number x) {
        const double high = to.hi / x.hi;
        const Number rest = TwoDoubles::subtract(to, TwoDoubles::multiply(x, {high, 0}));
        to = number::fast_two_sum(high, rest.hi / x.hi);
    }
    static void subtract_multiple(Number *to, Number factor, const Number *x, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            to[k] = TwoDoubles::subtract(to[k], TwoDoubles::multiply(factor, x[k]));
    }

    static std::int64_t exponent(Number) { return 0; }
    static Number size(Number x, std::int64_t) { return x.hi < 0 ? TwoDoubles::negate(x) : x; }
};

class MpfrField {
  public:
    using Number = MpfrNumber;

    explicit MpfrField(mpfr_prec_t bits) : bits_(bits) {}

    MpfrNumber number(double mantissa, std::int64_t exp2) const {
        MpfrNumber x(bits_);
        mpfr_set_d(x, mantissa, MPFR_RNDN);
        mpfr_mul_2si(x, x, exp2, MPFR_RNDN);
        return x;
    }
    MpfrNumber zero() const { return MpfrNumber(bits_); }
    MpfrNumber one() const { return number(1, 0); }
    static bool is_zero(const MpfrNumber &x) { return mpfr_zero_p(x) != 0; }
    static bool is_larger(const MpfrNumber &x, const MpfrNumber &y) { return mpfr_cmpabs(x, y) > 0; }
    static void multiply(MpfrNumber &to, const MpfrNumber &x) { mpfr_mul(to, to, x, MPFR_RNDN); }
    static void divide(MpfrNumber &to, const MpfrNumber &x) { mpfr_div(to, to, x, MPFR_RNDN); }
    static void subtract_multiple(MpfrNumber *to, const MpfrNumber &factor, const MpfrNumber *x,
                                  std::size_t count) {
        MpfrNumber negated(factor);
        mpfr_neg(negated, negated, MPFR_RNDN);
        for (std::size_t k = 0; k < count; ++k)
            if (!is_zero(x[k])) mpfr_fma(to[k], negated, x[k], to[k], MPFR_RNDN);
    }

    static std::int64_t exponent(const MpfrNumber &x) {
        return mpfr_regular_p(x) != 0 ? mpfr_get_exp(x) : mpfr_get_emin();
    }
    TwoDoubles::Number size(const MpfrNumber &x, std::int64_t unit) const {
        MpfrNumber rest(bits_);
        mpfr_abs(rest, x, MPFR_RNDN);
        mpfr_mul_2si(rest, rest, -unit, MPFR_RNDN);
        const double hi = mpfr_get_d(rest, MPFR_RNDN);
        mpfr_sub_d(rest, rest, hi, MPFR_RNDN);
        return {hi, mpfr_get_d(rest, MPFR_RNDN)};
    }

  private:
    mpfr_prec_t bits_;
};

} // namespace libperm
