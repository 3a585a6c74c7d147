// The sums of jit/device/partial.cuh on the host, and numbers from and to doubles.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/number/number.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

// NOLINTBEGIN(bugprone-reserved-identifier): words of CUDA C++
#define __device__
#define __forceinline__ inline
// NOLINTEND(bugprone-reserved-identifier)

namespace libperm::number {
#include "jit/device/partial.cuh"
} // namespace libperm::number

#undef __device__
#undef __forceinline__

namespace libperm {

using number::PartialOf;

// Doubles of a partial sum: those of A::Sum, and the sum of absolute values.
constexpr int partial_doubles(Arithmetic a) { return a == Arithmetic::modular ? 2 : is_complex(a) ? 5 : 3; }

// Numbers from and to the doubles that they are made of, which are `stride` doubles from each other.
template <class Number> Number gathered(const double *from, std::ptrdiff_t stride = 1) {
    double parts[sizeof(Number) / sizeof(double)];
    for (double &part : parts) part = *std::exchange(from, from + stride);
    return std::bit_cast<Number>(parts);
}
template <class Number> void scatter(const Number &x, double *to, std::ptrdiff_t stride = 1) {
    double parts[sizeof(Number) / sizeof(double)];
    std::memcpy(parts, &x, sizeof x);
    for (const double part : parts) *std::exchange(to, to + stride) = part;
}

// f(a) for the arithmetic itself, whose own doubles are the last of `values`.
template <class F>
decltype(auto) with_arithmetic_of(Arithmetic arithmetic, std::span<const double> values, F f) {
    using namespace number;
    switch (arithmetic) {
    case Arithmetic::complex:
        return f(Complex<Real<double>>());
    case Arithmetic::dd:
        return f(DD<double>());
    case Arithmetic::complex_dd:
        return f(Complex<DD<double>>());
    case Arithmetic::modular:
        return f(Modular<double>{values[values.size() - 2], values[values.size() - 1]});
    case Arithmetic::pair:
        return f(Compensated<double>());
    case Arithmetic::split:
        return f(Compensated<double, SplitRow<double>>());
    case Arithmetic::two_grids:
        return f(TwoGrids<double>());
    case Arithmetic::complex_two_grids:
        return f(Complex<TwoGrids<double>>());
    case Arithmetic::complex_split:
        return f(Complex<Compensated<double, SplitRow<double>>>());
    case Arithmetic::real:
        break;
    }
    return f(Real<double>());
}

} // namespace libperm
