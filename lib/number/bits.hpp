// Which bits a double has: what makes an operation exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace libperm {

// The largest u with x (not 0) a multiple of 2^u.
inline int unit_exponent(double x) {
    int exponent = 0;
    const double mantissa = std::frexp(std::fabs(x), &exponent);
    return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(std::ldexp(mantissa, 53)));
}

// For ldexp: far beyond a double's range nothing changes any more.
inline int ldexp_exponent(std::int64_t e) {
    return static_cast<int>(std::clamp<std::int64_t>(e, -10000, 10000));
}

// 2^exponent, -1022 to 1023.
inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

inline bool is_power_of_two(double x) {
    int exponent = 0;
    return std::frexp(std::fabs(x), &exponent) == 0.5;
}

} // namespace libperm
