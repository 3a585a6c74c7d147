// What a state carries that is moved along a frontier or a period: traits over an arithmetic of
// jit/number/number.hpp.
#pragma once

#include "jit/number/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace libperm {

// Scales a number that is made of doubles.
template <class N>
requires std::is_trivially_copyable_v<N> N times_power(const N &number, int exp2) {
    if (exp2 == 0) return number;
    auto doubles = std::bit_cast<std::array<double, sizeof(N) / sizeof(double)>>(number);
    for (double &x : doubles) x = std::ldexp(x, exp2);
    return std::bit_cast<N>(doubles);
}

// How large and how small the numbers of a step are: what overflow, underflow and exactness depend on.
struct Extent {
    double largest = 0;                                        // magnitude
    double smallest = std::numeric_limits<double>::infinity(); // value, or magnitude, that is not 0

    friend Extent join(const Extent &x, const Extent &y) {
        return {std::max(x.largest, y.largest), std::min(x.smallest, y.smallest)};
    }
};

// Before the states of two lists are multiplied, each list is scaled by a power of two.
struct JoinScales {
    int of_this, of_other; // the exponents
};

// Entries >= 0, none of them made by cancellation: the value bounds its own error.
template <class A> struct NonNegative {
    using Arithmetic = A;
    typename A::Number value;

    static NonNegative number(double x) { return {A::number(x)}; }
    static NonNegative coefficient(const typename A::Number &a, double /*magnitude*/) { return {a}; }
    double magnitude() const { return A::magnitude(value); }
    double least() const { return A::magnitude(value); } // 0, or the smallest of its parts

    friend NonNegative operator+(const NonNegative &x, const NonNegative &y) {
        return {A::add(x.value, y.value)};
    }
    friend NonNegative operator*(const NonNegative &x, const NonNegative &y) {
        return {A::multiply(x.value, y.value)};
    }
};

// Other entries: beside the value the sum of the terms' absolute values.
template <class A> struct alignas(A::parts == 1 ? 16 : 8) Signed {
    using Arithmetic = A;
    typename A::Number value;
    double absolute;

    static Signed number(double x) { return {A::number(x), x}; } // x >= 0
    static Signed coefficient(const typename A::Number &a, double magnitude) { return {a, magnitude}; }
    double magnitude() const { return absolute; }
    double least() const {
        if constexpr (A::parts == 1) return value != 0 ? std::fabs(value) : absolute;
        return absolute; // nothing is said to be exact
    }

    friend Signed operator+(const Signed &x, const Signed &y) {
        return {A::add(x.value, y.value), x.absolute + y.absolute};
    }
    friend Signed operator*(const Signed &x, const Signed &y) {
        return {A::multiply(x.value, y.value), x.absolute * y.absolute};
    }
};

} // namespace libperm
