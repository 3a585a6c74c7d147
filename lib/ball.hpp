// Sums and products of numbers that are known up to an error.
#pragma once

#include "lib/outcome.hpp"
#include "preprocess/tracked.hpp"

namespace libperm {

Ball ball_of(const Tracked &x);
Ball operator*(const Ball &x, const Ball &y);
Ball operator+(const Ball &x, const Ball &y);

} // namespace libperm
