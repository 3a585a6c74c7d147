// Two numbers that an entry's absolute value lies between.
#pragma once

#include "lib/number/ball.hpp"
#include "preprocess/tracked.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {

// The value is given without its power of two (preprocess/tracked.hpp).
inline std::pair<double, double> range_of(const Tracked &x) {
    const double size = std::fabs(x.value);
    if (x.roundings == 0) return {size, size};
    const double gamma = gamma_bound(x.roundings), error = gamma / (1 - gamma) * x.magnitude * (1 + 0x1p-50);
    return {std::max(0.0, (size - error) * (1 - 0x1p-51)), (size + error) * (1 + 0x1p-51)};
}

} // namespace libperm
