// Entries that small matrices are tested with.
#pragma once

#include "bench/families.hpp"

#include <cmath>
#include <cstdint>

// A number of one of many kinds; `kind` is of a whole matrix.
constexpr std::int64_t entry_kinds = 10;
inline double entry(std::int64_t kind, perm::families::Random &random) {
    const double x = random.uniform(-1, 1);
    switch (kind) {
    case 0:
        return x;
    case 1:
        return random.uniform();
    case 2:
        return random.chance(0.3) ? 0.0 : x;
    case 3: // one digit, and -0.0
        return random.chance(0.1) ? -0.0 : static_cast<double>(random.integer(-9, 9));
    case 4:
        return std::ldexp(static_cast<double>(random.integer(-1000, 1000)), -7);
    case 5:
        return std::ldexp(x, static_cast<int>(random.integer(-40, 0)));
    case 6:
        return std::ldexp(x, static_cast<int>(random.integer(-300, 300)));
    case 7:
        return random.chance(0.2) ? x * 0x1p-1073 : x; // subnormal, or nothing
    case 8:
        return static_cast<double>(static_cast<float>(x));
    default:
        return random.chance(0.5) ? 1 : -1;
    }
}
