// What a frontier state carries: the number-type trait of the frontier engine.
#pragma once

#include <cmath>

namespace libperm {

// Entries >= 0: nothing cancels, so the value bounds its own error.
struct NonNegative {
    double value;

    static NonNegative zero() { return {0}; }
    static NonNegative one() { return {1}; }
    static NonNegative coefficient(double a) { return {a}; }
    double magnitude() const { return value; }

    friend NonNegative operator+(NonNegative x, NonNegative y) { return {x.value + y.value}; }
    friend NonNegative operator*(NonNegative x, NonNegative y) { return {x.value * y.value}; }
};

// Entries of both signs: beside the value the sum of the terms' absolute values.
struct alignas(16) Signed {
    double value, absolute;

    static Signed zero() { return {0, 0}; }
    static Signed one() { return {1, 1}; }
    static Signed coefficient(double a) { return {a, std::fabs(a)}; }
    double magnitude() const { return absolute; }

    friend Signed operator+(Signed x, Signed y) { return {x.value + y.value, x.absolute + y.absolute}; }
    friend Signed operator*(Signed x, Signed y) { return {x.value * y.value, x.absolute * y.absolute}; }
};

} // namespace libperm
