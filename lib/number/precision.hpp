// What numbers a plan computes with.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <string>

namespace libperm {

// double, kahan and dq differ in how terms are summed, in the engines that sum them one by one. mpfr: exact,
// rounded to so many bits in the end.
enum class Precision { automatic, double_, kahan, dq, dd, exact, mpfr };

struct Numbers {
    Precision precision = Precision::double_; // not automatic, nor mpfr
    bool complex = false;

    // Doubles with an account of their rounding errors do; else blocks are exact until an engine takes them.
    bool are_tracked() const { return !complex && precision <= Precision::dq; }
    Arithmetic arithmetic() const;

    friend bool operator==(const Numbers &, const Numbers &) = default;
};

std::string precision_name(Precision precision); // "dd"

constexpr int most_mpfr_bits = 1 << 20;

} // namespace libperm
