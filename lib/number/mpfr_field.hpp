// Real and complex numbers of MPFR with the same operations.
#pragma once

#include "lib/number/mpfr_number.hpp"
#include "preprocess/gaussian.hpp"

#include <cmath>
#include <gmpxx.h>
#include <utility>

namespace libperm {

class MpfrReal {
  public:
    using Number = MpfrNumber;
    static Number number(mpfr_prec_t bits) { return Number(bits); }
    static void set(Number &to, const mpz_class &re, const mpz_class &, mpfr_exp_t exp2) {
        mpfr_set_z_2exp(to, re.get_mpz_t(), exp2, MPFR_RNDN);
    }
    static void set(Number &to, const Gaussian &x, long exp2) {
        mpfr_set_q(to, x.re.get_mpq_t(), MPFR_RNDN);
        shift(to, exp2);
    }
    static void set(Number &to, const Number &x) { mpfr_set(to, x, MPFR_RNDN); }
    static void add(Number &to, const Number &x) { mpfr_add(to, to, x, MPFR_RNDN); }
    static void subtract(Number &to, const Number &x) { mpfr_sub(to, to, x, MPFR_RNDN); }
    static void shift(Number &x, long by) { mpfr_mul_2si(x, x, by, MPFR_RNDN); }
    static bool is_zero(const Number &x) { return mpfr_zero_p(x) != 0; }
    static void multiply(Number &to, const Number &x) { mpfr_mul(to, to, x, MPFR_RNDN); }
    // Rounds once; of complex numbers each part twice.
    static void add_product(Number &to, const Number &x, const Number &y, Number &) {
        mpfr_fma(to, x, y, to, MPFR_RNDN);
    }
    static double magnitude(const Number &x) { return std::fabs(mpfr_get_d(x, MPFR_RNDA)); } // or above
    static void add_magnitude(MpfrNumber &to, const Number &x) {
        mpfr_signbit(x) ? mpfr_sub(to, to, x, MPFR_RNDU) : mpfr_add(to, to, x, MPFR_RNDU);
    }
    static const MpfrNumber &re(const Number &x) { return x; }
    static const MpfrNumber *im(const Number &) { return nullptr; }
    template <class F> static void each_part(Number &x, const F &f) { f(x); }
};

class MpfrComplex {
  public:
    struct Number {
        MpfrNumber re, im;
    };
    static Number number(mpfr_prec_t bits) { return {MpfrNumber(bits), MpfrNumber(bits)}; }
    static void set(Number &to, const mpz_class &re, const mpz_class &im, mpfr_exp_t exp2) {
        MpfrReal::set(to.re, re, 0, exp2);
        MpfrReal::set(to.im, im, 0, exp2);
    }
    static void set(Number &to, const Gaussian &x, long exp2) {
        MpfrReal::set(to.re, x, exp2);
        MpfrReal::set(to.im, {x.im, 0}, exp2);
    }
    static void set(Number &to, const Number &x) {
        MpfrReal::set(to.re, x.re);
        MpfrReal::set(to.im, x.im);
    }
    static void add(Number &to, const Number &x) {
        MpfrReal::add(to.re, x.re);
        MpfrReal::add(to.im, x.im);
    }
    static void subtract(Number &to, const Number &x) {
        MpfrReal::subtract(to.re, x.re);
        MpfrReal::subtract(to.im, x.im);
    }
    static void shift(Number &x, long by) {
        MpfrReal::shift(x.re, by);
        MpfrReal::shift(x.im, by);
    }
    static bool is_zero(const Number &x) { return MpfrReal::is_zero(x.re) && MpfrReal::is_zero(x.im); }
    // Each part rounds once.
    static void multiply(Number &to, const Number &x) {
        MpfrNumber re(to.re.bits());
        mpfr_fmms(re, to.re, x.re, to.im, x.im, MPFR_RNDN);
        mpfr_fmma(to.im, to.re, x.im, to.im, x.re, MPFR_RNDN);
        to.re = std::move(re);
    }
    static void add_product(Number &to, const Number &x, const Number &y, Number &room) {
        mpfr_fmms(room.re, x.re, y.re, x.im, y.im, MPFR_RNDN);
        mpfr_fmma(room.im, x.re, y.im, x.im, y.re, MPFR_RNDN);
        add(to, room);
    }
    static double magnitude(const Number &x) { return MpfrReal::magnitude(x.re) + MpfrReal::magnitude(x.im); }
    static void add_magnitude(MpfrNumber &to, const Number &x) { // |re| + |im|
        MpfrReal::add_magnitude(to, x.re);
        MpfrReal::add_magnitude(to, x.im);
    }
    static const MpfrNumber &re(const Number &x) { return x.re; }
    static const MpfrNumber *im(const Number &x) { return &x.im; }
    template <class F> static void each_part(Number &x, const F &f) {
        f(x.re);
        f(x.im);
    }
};

} // namespace libperm
