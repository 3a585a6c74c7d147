// What a frontier state carries: the number-type trait of the frontier engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace libperm {

// How large and how small the numbers of a step are: what overflow, underflow and exactness depend on.
struct Extent {
    double largest = 0;                                        // magnitude
    double smallest = std::numeric_limits<double>::infinity(); // value, or magnitude, that is not 0

    friend Extent join(const Extent &x, const Extent &y) {
        return {std::max(x.largest, y.largest), std::min(x.smallest, y.smallest)};
    }
};

// Entries >= 0, none of them made by cancellation: the value bounds its own error.
struct NonNegative {
    double value;

    static NonNegative zero() { return {0}; }
    static NonNegative one() { return {1}; }
    static NonNegative coefficient(double a, double /*magnitude*/) { return {a}; }
    double magnitude() const { return value; }
    double least() const { return value; } // 0, or the smallest of its parts

    friend NonNegative operator+(NonNegative x, NonNegative y) { return {x.value + y.value}; }
    friend NonNegative operator*(NonNegative x, NonNegative y) { return {x.value * y.value}; }
};

// Entries of both signs: beside the value the sum of the terms' absolute values.
struct alignas(16) Signed {
    double value, absolute;

    static Signed zero() { return {0, 0}; }
    static Signed one() { return {1, 1}; }
    static Signed coefficient(double a, double magnitude) { return {a, magnitude}; }
    double magnitude() const { return absolute; }
    double least() const { return value != 0 ? std::fabs(value) : absolute; }

    friend Signed operator+(Signed x, Signed y) { return {x.value + y.value, x.absolute + y.absolute}; }
    friend Signed operator*(Signed x, Signed y) { return {x.value * y.value, x.absolute * y.absolute}; }
};

template <class Number> Extent extent_of(const Number *numbers, std::size_t count) {
    Extent extent;
    for (std::size_t k = 0; k < count; ++k) {
        extent.largest = std::max(extent.largest, numbers[k].magnitude());
        const double least = numbers[k].least();
        extent.smallest = std::min(extent.smallest, least == 0 ? extent.smallest : least);
    }
    return extent;
}

} // namespace libperm
