// An MPFR number that looks after its memory; the operations are MPFR's own, which take it as it is.
#pragma once

#define MPFR_USE_NO_MACRO // macros would not take MpfrNumber
#include <mpfr.h>

#include <cstdlib>
#include <gmpxx.h>
#include <string>

namespace libperm {

// MPFR's exponents end at 2^30 unless told otherwise (for this thread).
class WholeExponentRange {
  public:
    WholeExponentRange() {
        mpfr_set_emin(mpfr_get_emin_min());
        mpfr_set_emax(mpfr_get_emax_max());
    }
    ~WholeExponentRange() {
        mpfr_set_emin(emin_);
        mpfr_set_emax(emax_);
    }
    WholeExponentRange(const WholeExponentRange &) = delete;
    WholeExponentRange &operator=(const WholeExponentRange &) = delete;

  private:
    mpfr_exp_t emin_ = mpfr_get_emin(), emax_ = mpfr_get_emax();
};

class MpfrNumber {
  public:
    explicit MpfrNumber(mpfr_prec_t bits) {
        mpfr_init2(x_, bits);
        mpfr_set_zero(x_, 1);
    }
    MpfrNumber(const MpfrNumber &x) : MpfrNumber(x.bits()) { mpfr_set(x_, x.x_, MPFR_RNDN); }
    MpfrNumber(MpfrNumber &&x) noexcept : x_{x.x_[0]} { x.x_->_mpfr_d = nullptr; }
    ~MpfrNumber() {
        if (x_->_mpfr_d) mpfr_clear(x_);
    }
    // The precision goes with the value, which is never rounded here.
    MpfrNumber &operator=(const MpfrNumber &x) {
        if (!x_->_mpfr_d) return *this = MpfrNumber(x);
        if (bits() != x.bits()) mpfr_set_prec(x_, x.bits());
        mpfr_set(x_, x.x_, MPFR_RNDN);
        return *this;
    }
    MpfrNumber &operator=(MpfrNumber &&x) noexcept {
        mpfr_swap(x_, x.x_);
        return *this;
    }

    // "mantissa exponent", that in base 62, this of 2: exactly.
    std::string to_string() const {
        mpz_class mantissa;
        const mpfr_exp_t exp2 = mpfr_zero_p(x_) ? 0 : mpfr_get_z_2exp(mantissa.get_mpz_t(), x_);
        return mantissa.get_str(62) + ' ' + std::to_string(exp2);
    }
    bool set_string(const std::string &text) { // its precision stays
        const std::size_t space = text.find(' ');
        mpz_class mantissa;
        if (space == std::string::npos || mantissa.set_str(text.substr(0, space), 62) != 0) return false;
        const long exp2 = std::strtol(text.c_str() + space, nullptr, 10);
        constexpr long most = 1 << 28; // beyond any sum of products of row sums
        if (exp2 < -most || exp2 > most) return false;
        mpfr_set_z_2exp(x_, mantissa.get_mpz_t(), exp2, MPFR_RNDN);
        return true;
    }

    operator mpfr_ptr() { return x_; }
    operator mpfr_srcptr() const { return x_; }
    mpfr_prec_t bits() const { return mpfr_get_prec(x_); }

  private:
    mpfr_t x_;
};

} // namespace libperm
