// Sums and products of numbers that are known up to an error.
#pragma once

#include "lib/number/scaled.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/gaussian.hpp"
#include "preprocess/tracked.hpp"

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

} // namespace libperm
