// What numbers a plan computes with.
#pragma once

#include "jit/number/arithmetic.hpp"

#include <string>

namespace libperm {

// double, kahan and dq differ in how terms are summed, in the engines that sum them one by one.
enum class Precision { automatic, double_, kahan, dq, dd, exact, mpfr };

struct Numbers {
    Precision precision = Precision::double_; // not automatic
    bool complex = false;
    int bits = 0; // of MPFR's numbers

    // Doubles with an account of their rounding errors do; else blocks are exact until an engine takes them.
    bool are_tracked() const { return !complex && precision <= Precision::dq; }
    Arithmetic arithmetic() const;

    friend bool operator==(const Numbers &, const Numbers &) = default;
};

std::string precision_name(Precision precision, int bits = 0); // "dd", "mpfr:200"

constexpr int most_mpfr_bits = 1 << 20;

} // namespace libperm
