#include "jit/number/arithmetic.hpp"

namespace libperm {

const char *arithmetic_name(Arithmetic a) {
    switch (a) {
    case Arithmetic::real:
        return "double";
    case Arithmetic::complex:
        return "complex";
    case Arithmetic::dd:
        return "dd";
    case Arithmetic::complex_dd:
        return "complex dd";
    case Arithmetic::modular:
        return "modular";
    case Arithmetic::pair:
        return "pair";
    case Arithmetic::split:
        return "split";
    case Arithmetic::two_grids:
        return "two grids";
    case Arithmetic::complex_two_grids:
        return "complex two grids";
    case Arithmetic::complex_split:
        return "complex split";
    }
    return "?";
}

const char *arithmetic_type(Arithmetic a) {
    switch (a) {
    case Arithmetic::real:
        return "Real<double>";
    case Arithmetic::complex:
        return "Complex<Real<double>>";
    case Arithmetic::dd:
        return "DD<double>";
    case Arithmetic::complex_dd:
        return "Complex<DD<double>>";
    case Arithmetic::modular:
        return "Modular<double>";
    case Arithmetic::pair:
        return "Compensated<double>";
    case Arithmetic::split:
        return "Compensated<double, SplitRow<double>>";
    case Arithmetic::two_grids:
        return "TwoGrids<double>";
    case Arithmetic::complex_two_grids:
        return "Complex<TwoGrids<double>>";
    case Arithmetic::complex_split:
        return "Complex<Compensated<double, SplitRow<double>>>";
    }
    return "?";
}

} // namespace libperm
