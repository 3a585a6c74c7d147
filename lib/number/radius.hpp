// Bounds of errors, rounded up, with an exponent that neither overflows nor underflows.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

namespace libperm {

// mantissa 2^exp2 with 1/2 <= mantissa < 1, or 0.
class Radius {
  public:
    Radius() = default;
    Radius(double mantissa, std::int64_t exp2) : mantissa_(mantissa), exp2_(exp2) { normalize(); }

    bool is_zero() const { return mantissa_ == 0; }
    double mantissa() const { return mantissa_; }
    std::int64_t exp2() const { return exp2_; }
    // Times 2^-exp2, which may be 0 or infinite.
    double over(std::int64_t exp2) const {
        const std::int64_t by = exp2_ - exp2;
        return by < -2000 ? 0 : std::ldexp(mantissa_, static_cast<int>(by > 2000 ? 2000 : by));
    }

    friend Radius operator*(const Radius &x, const Radius &y) {
        return {x.mantissa_ * y.mantissa_ * slightly_more, x.exp2_ + y.exp2_};
    }
    friend Radius operator+(Radius x, Radius y) {
        if (y.is_zero()) return x;
        if (x.is_zero()) return y;
        if (x.exp2_ < y.exp2_) std::swap(x, y);
        const std::int64_t by = x.exp2_ - y.exp2_;
        const double low = by > 60 ? 0x1p-60 : std::ldexp(y.mantissa_, -static_cast<int>(by));
        return {(x.mantissa_ + low) * slightly_more, x.exp2_};
    }
    // `below` is a lower bound.
    friend Radius operator/(const Radius &x, const Radius &below) {
        return {x.mantissa_ / below.mantissa_ * slightly_more, x.exp2_ - below.exp2_};
    }
    friend bool operator<(const Radius &x, const Radius &y) {
        if (x.is_zero() || y.is_zero()) return !y.is_zero() && x.is_zero();
        return x.exp2_ != y.exp2_ ? x.exp2_ < y.exp2_ : x.mantissa_ < y.mantissa_;
    }
    // A lower bound of x - y; 0 where that may not be positive.
    static Radius below_difference(const Radius &x, const Radius &y) {
        if (y.is_zero()) return x;
        if (!(y < x)) return {};
        const double rest = x.mantissa_ - y.over(x.exp2_) - 0x1p-50;
        return rest > 0 ? Radius(rest, x.exp2_) : Radius();
    }

  private:
    static constexpr double slightly_more = 1 + 0x1p-50; // than any rounding takes away

    void normalize() {
        if (mantissa_ == 0 || (mantissa_ >= 0.5 && mantissa_ < 1)) return;
        int by = 0;
        mantissa_ = std::frexp(mantissa_, &by);
        exp2_ += by;
    }

    double mantissa_ = 0;
    std::int64_t exp2_ = 0;
};

} // namespace libperm
