// Two numbers that |perm| lies between for certain, and the best ones that are known of a block.
#pragma once

#include "lib/bounds/magnitudes.hpp"
#include "lib/number/ball.hpp"

#include <gmpxx.h>

namespace libperm {

struct Interval {
    Scaled lower, upper; // 0 <= lower <= upper

    bool is_point() const { return lower.mantissa == upper.mantissa && lower.exp2 == upper.exp2; }
};

// The interval holds the absolute value.
Interval interval_of(const Ball &ball);
Interval interval_of(const WideBall &ball);

// Rounded outwards, and not where nothing is lost.
Interval operator*(const Interval &x, const Interval &y);
Interval operator/(const Interval &x, const mpz_class &y); // y > 0

// log2 of upper over lower; infinite where lower is 0 and upper is not.
double log2_gap(const Interval &x);

// The best bounds of one block, of all that are known here.

struct Bounded {
    Interval interval;
    // Static: "gurvits", "bethe", "matching", "none", ...; "exact" of what was computed.
    const char *lower_method = "exact", *upper_method = "exact";
};

Bounded bounds_of_block(const Magnitudes &m);

} // namespace libperm
