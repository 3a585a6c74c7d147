// Which bits a double has: what makes an operation exact.
#pragma once

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

inline bool is_power_of_two(double x) {
    int exponent = 0;
    return std::frexp(std::fabs(x), &exponent) == 0.5;
}

} // namespace libperm
