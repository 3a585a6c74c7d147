// An MPFR number that looks after its memory; the operations are MPFR's own, which take it as it is.
#pragma once

#define MPFR_USE_NO_MACRO // macros would not take MpfrNumber
#include <mpfr.h>

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

    operator mpfr_ptr() { return x_; }
    operator mpfr_srcptr() const { return x_; }
    mpfr_prec_t bits() const { return mpfr_get_prec(x_); }

  private:
    mpfr_t x_;
};

} // namespace libperm
