#include "lib/run/cost.hpp"

#include <cmath>

namespace libperm {

double seconds_on(int threads, double serial_seconds) {
    constexpr double worth_a_thread = 2e-4; // shorter work is done by one
    constexpr double efficiency = 0.85;     // of each further thread
    if (serial_seconds < worth_a_thread) return serial_seconds;
    return serial_seconds / (1 + efficiency * (threads - 1));
}

double Pace::of(Arithmetic a) const {
    switch (a) {
    case Arithmetic::complex:
    case Arithmetic::complex_two_grids:
        return complex;
    case Arithmetic::dd:
    case Arithmetic::split:
        return dd;
    case Arithmetic::complex_dd:
    case Arithmetic::complex_split:
        return complex_dd;
    case Arithmetic::modular:
        return residues;
    case Arithmetic::two_grids: // a plan counts them
    case Arithmetic::pair:      // of segments alone: a plan counts them
    case Arithmetic::real:
        break;
    }
    return 1;
}

double Pace::matrices(const Numbers &numbers, double bits) const {
    return std::ceil((bits + 2) / prime_bits) * (numbers.complex ? 2 : 1);
}

Slowdown Pace::slowdown(const Numbers &numbers, double bits) const {
    Slowdown slowdown{of(numbers.arithmetic())};
    if (numbers.precision == Precision::exact) slowdown.time *= matrices(numbers, bits);
    return slowdown;
}

} // namespace libperm
