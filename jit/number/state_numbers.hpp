// What numbers the states of a frontier carry.
#pragma once

#include "jit/number/arithmetic.hpp"

namespace libperm {

struct StateNumbers {
    Arithmetic arithmetic;
    bool nonnegative = false; // real ones >= 0
    int matrices = 1;         // of residues, on a CPU: at once

    // NOLINTNEXTLINE(google-explicit-constructor): of doubles there is nothing else to say
    constexpr StateNumbers(bool is_nonnegative) : arithmetic(Arithmetic::real), nonnegative(is_nonnegative) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr StateNumbers(Arithmetic a, bool is_nonnegative = false, int of_matrices = 1)
        : arithmetic(a), nonnegative(is_nonnegative && !is_complex(a)), matrices(of_matrices) {}

    // Else the sum of the terms' absolute values stands beside the value.
    constexpr bool bounds_itself() const { return nonnegative || arithmetic == Arithmetic::modular; }
    constexpr int doubles() const { return parts_of(arithmetic) + (bounds_itself() ? 0 : 1); }
};

// "nonnegative", "signed", "complex", "nonnegative dd", ...: as in a kernel's key.
inline const char *name_of(const StateNumbers &numbers) {
    if (numbers.arithmetic == Arithmetic::real) return numbers.nonnegative ? "nonnegative" : "signed";
    if (numbers.arithmetic == Arithmetic::dd && numbers.nonnegative) return "nonnegative dd";
    return arithmetic_name(numbers.arithmetic);
}

// An entry goes to a device as its parts and its magnitude.
constexpr int coefficient_doubles(Arithmetic a) { return parts_of(a) + 1; }
constexpr int most_coefficient_doubles = 5;

} // namespace libperm
