// Bounds of errors, and sums and products of numbers that are known up to an error.
#pragma once

#include "lib/number/scaled.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/numbers.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace libperm {

// A number and how far from the truth it can be.
struct Ball {
    Scaled value, error; // |value - truth| <= error
};

Ball ball_of(const Tracked &x);
Ball operator*(const Ball &x, const Ball &y);
Ball operator+(const Ball &x, const Ball &y);
Ball operator/(const Ball &x, const mpz_class &y); // y > 0

// The same with a value of any length: nothing is rounded any more.
struct WideBall {
    Gaussian value;
    Scaled error; // |value - truth| <= error
};

WideBall ball_of(const Gaussian &x);

// `value` times 2^exp2, within `error` times 2^exp2 of the truth; an error that is not a number (something
// overflowed) is infinite. Throws Error where a part is not finite.
Ball ball_within(double value, double error, std::int64_t exp2);
WideBall ball_within(const Parts &parts, double error, std::int64_t exp2);

WideBall operator*(const WideBall &x, const WideBall &y);
WideBall operator+(const WideBall &x, const WideBall &y);
WideBall operator/(const WideBall &x, const mpz_class &y);

// A bound of |x|, and hardly more.
Scaled size_of(const Gaussian &x);

// |value - truth| <= error gives |text - truth| <= written_error for the value's text, of 17 digits or, where
// the relative error is below 1e-16, of written_digits.
Scaled written_error(const Scaled &value, const Scaled &error);

// And |text - truth| <= bound * |truth|, however far below the range of double the bound is; infinite if no
// digit is certain.
Scaled relative_error(const Scaled &value, const Scaled &error);

// Of a text with this relative error, which is not 0: 17, or two more than are certain; three million at
// most.
std::size_t written_digits(const Scaled &relative);

// Rounding `roundings` times on the way of each term changes a sum of terms by at most this share of the sum
// of their absolute values (Higham, Accuracy and Stability, Lemma 3.1: gamma_k).
double gamma_bound(double roundings, double unit = 0x1p-53); // of the arithmetic

// How far such a sum can be from the truth, `magnitude` being that of the absolute values as it was computed
// with other roundings of the same number: at most that / (1 - gamma) it truly is. Infinite where nothing is
// known.
double rounding_error(double roundings, double unit, double magnitude, double unit_of_magnitude = 0x1p-53);

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
