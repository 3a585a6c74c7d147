// Sums and products of numbers that are known up to an error.
#pragma once

#include "lib/outcome.hpp"
#include "preprocess/gaussian.hpp"
#include "preprocess/tracked.hpp"

namespace libperm {

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
WideBall operator*(const WideBall &x, const WideBall &y);
WideBall operator+(const WideBall &x, const WideBall &y);
WideBall operator/(const WideBall &x, const mpz_class &y);

void set_value(Outcome &outcome, const WideBall &ball);

} // namespace libperm
