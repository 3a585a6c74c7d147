// Matrices whose terms have one sign.
#pragma once

#include "lib/number/ball.hpp"
#include "preprocess/block.hpp"
#include "preprocess/tracked.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {

// Two numbers that an entry's absolute value lies between. The value is given without its power of two
// (preprocess/tracked.hpp).
inline std::pair<double, double> range_of(const Tracked &x) {
    const double size = std::fabs(x.value);
    if (x.roundings == 0) return {size, size};
    const double gamma = gamma_bound(x.roundings), error = gamma / (1 - gamma) * x.magnitude * (1 + 0x1p-50);
    return {std::max(0.0, (size - error) * (1 - 0x1p-51)), (size + error) * (1 + 0x1p-51)};
}

// Where rows and columns can be given signs such that no entry is negative, |perm| is the permanent of the
// absolute values: then its sign, 1 or -1; else 0.
int sign_by_lines(const Block &block);

} // namespace libperm
