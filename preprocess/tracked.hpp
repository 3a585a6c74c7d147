// A number of the reductions, with an account of its rounding errors and an exponent of its own: products of
// any length neither overflow nor underflow.
//
// It stands for t, a sum of products of entries whose absolute values add up to M:
//   |value 2^exp2 - t| <= gamma(roundings) M   and   magnitude 2^exp2 >= (1 - gamma(roundings)) M,
// gamma(k) = k u / (1 - k u), u = 2^-53. Without roundings value 2^exp2 is t itself.
#pragma once

#include <cstdint>

namespace libperm {

struct Tracked {
    double value = 0, magnitude = 0; // |value| <= magnitude < 1; magnitude >= 1/2, or 0: there is no number
    std::int64_t exp2 = 0;
    std::int32_t roundings = 0;
};

Tracked tracked(double x);
Tracked operator*(const Tracked &x, const Tracked &y);
Tracked operator+(const Tracked &x, const Tracked &y);
Tracked operator/(const Tracked &x, const Tracked &y); // y as it stands, without roundings; not 0

inline bool is_zero(const Tracked &x) { return x.value == 0 && x.roundings == 0; }

} // namespace libperm
