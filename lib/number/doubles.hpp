// Doubles, bit by bit: what is above them, what makes an operation exact, and sums of two.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace libperm {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

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

// std::fma is a call where the compiler may not count on the instruction. work(), with all that can be
// inlined in it, is compiled a second time for machines that have it: the same bits.

#if defined(__x86_64__) && !defined(__FMA__)
template <class Work> [[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] void by_fma(const Work &work) {
    work();
}

template <class Work> void with_fma(const Work &work) {
    static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_fma)
        by_fma(work);
    else
        work();
}
#else
template <class Work> void with_fma(const Work &work) { work(); }
#endif

// Unevaluated sums of two doubles, about 106 bits: Dekker 1971; error bounds from Joldes, Muller and Popescu,
// ACM TOMS 44 (2017). Needs strict IEEE double arithmetic: no -ffast-math, no contraction.

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
