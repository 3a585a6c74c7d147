// What numbers the engines compute with (jit/device/number.cuh), the states of a frontier carry and
// hafnians are summed in.
#pragma once

#include <cstdint>

namespace libperm {

enum class Arithmetic : std::uint8_t {
    real,
    complex,
    dd,
    complex_dd,
    modular,
    pair,
    split,
    two_grids,
    complex_two_grids,
    complex_split
};

constexpr bool is_complex(Arithmetic a) {
    return a == Arithmetic::complex || a == Arithmetic::complex_dd || a == Arithmetic::complex_two_grids ||
           a == Arithmetic::complex_split;
}
constexpr bool is_dd(Arithmetic a) {
    return a == Arithmetic::dd || a == Arithmetic::complex_dd || a == Arithmetic::split ||
           a == Arithmetic::complex_split;
}
// Whose numbers are a double's and what its roundings have lost: after k operations within
// compensated_bound(k) of the sum of the absolute terms (docs/accuracy.md). Of the tree engine alone, as all
// that have row sums on two grids.
constexpr bool is_compensated(Arithmetic a) {
    return a == Arithmetic::pair || a == Arithmetic::split || a == Arithmetic::complex_split;
}
constexpr bool has_two_grids(Arithmetic a) {
    return a == Arithmetic::split || a == Arithmetic::complex_split || a == Arithmetic::two_grids ||
           a == Arithmetic::complex_two_grids;
}
constexpr double compensated_bound(double k) { return 2.2 * (k + 1) * (k + 1) * 0x1p-106; }

// Doubles in a number, and in a row sum or an entry.
constexpr int parts_of(Arithmetic a) {
    return (is_complex(a) ? 2 : 1) * (is_dd(a) || a == Arithmetic::pair ? 2 : 1);
}
constexpr int row_parts_of(Arithmetic a) {
    return has_two_grids(a) ? (is_complex(a) ? 4 : 2) : a == Arithmetic::pair ? 1 : parts_of(a);
}

// An operation errs by `roundings` times this, as a share of its result (of |a| + |b| for an addition).
constexpr double unit_of(Arithmetic a) { return is_dd(a) ? 0x1p-103 : 0x1p-53; }
// Of complex doubles: Jeannerod, Kornerup, Louvet and Muller, Error bounds on complex floating-point
// multiplication with an FMA, Math. Comp. 86 (2017).
constexpr double product_roundings(Arithmetic a) {
    return !is_complex(a) ? 1 : is_dd(a) || is_compensated(a) ? 3 : 2;
}

// Of c + a * b or c - a * b as one operation: of complex numbers' parts both products and both sums round,
// sqrt(2) times as much together; of doubled ones the product and the sum.
constexpr double fused_roundings(Arithmetic a) {
    return is_compensated(a) ? product_roundings(a) + 1 : is_complex(a) ? 3 : is_dd(a) ? 2 : 1;
}

// "real", "complex", ...: as in a kernel's key; and the type in its text.
const char *arithmetic_name(Arithmetic a);
const char *arithmetic_type(Arithmetic a);

// Primes of Modular lie below 2^47.
constexpr int modular_bits = 47;

// A product that is added rounds so many times, by the unit as a share of the sum of its parts.
constexpr int hafnian_roundings(Arithmetic a) {
    return a == Arithmetic::complex_dd ? 4 : a == Arithmetic::complex ? 3 : a == Arithmetic::dd ? 2 : 1;
}
constexpr double hafnian_unit(Arithmetic a) { return a == Arithmetic::modular ? 0 : unit_of(a); }

// What numbers the states of a frontier carry.

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
