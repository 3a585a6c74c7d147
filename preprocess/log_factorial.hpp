// ln n!, by any number of threads: std::lgamma writes a sign where all of them can read it.
#pragma once

#include <math.h> // lgamma_r is of POSIX, not of <cmath>

namespace libperm {

inline double log_factorial(double n) {
    int sign = 0;
    return ::lgamma_r(n + 1, &sign);
}

} // namespace libperm
