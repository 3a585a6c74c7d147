// Unevaluated sums of two doubles, about 106 bits: Dekker 1971; error bounds from Joldes, Muller and Popescu,
// ACM TOMS 44 (2017). Needs strict IEEE double arithmetic: no -ffast-math, no contraction.
#pragma once

namespace libperm {

struct DoubleDouble {
    double hi = 0, lo = 0;
};

// a + b exactly (Knuth's 2Sum).
inline DoubleDouble two_sum(double a, double b) {
    const double s = a + b;
    const double b_part = s - a;
    return {s, (a - (s - b_part)) + (b - b_part)};
}

// Relative error at most 2^-105; exact when the sum is a multiple of some 2^k and below 2^(k+104).
inline DoubleDouble operator+(DoubleDouble x, double y) {
    const DoubleDouble s = two_sum(x.hi, y);
    return two_sum(s.hi, x.lo + s.lo);
}

// Relative error of x.hi + x.lo + y.hi + y.lo at most 3 * 2^-106, opposite signs included (AccurateDWPlusDW).
inline DoubleDouble operator+(DoubleDouble x, DoubleDouble y) {
    const DoubleDouble s = two_sum(x.hi, y.hi);
    const DoubleDouble t = two_sum(x.lo, y.lo);
    const DoubleDouble v = two_sum(s.hi, s.lo + t.hi);
    return two_sum(v.hi, t.lo + v.lo);
}

} // namespace libperm
