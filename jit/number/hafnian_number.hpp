// How sums of products of polynomials round, in the sums over signs that hafnians are.
#pragma once

#include "jit/number/arithmetic.hpp"

namespace libperm {

// A product that is added rounds so many times, by the unit as a share of the sum of its parts.
constexpr int hafnian_roundings(Arithmetic a) {
    return a == Arithmetic::complex_dd ? 4 : a == Arithmetic::complex ? 3 : a == Arithmetic::dd ? 2 : 1;
}
constexpr double hafnian_unit(Arithmetic a) { return a == Arithmetic::modular ? 0 : unit_of(a); }

} // namespace libperm
