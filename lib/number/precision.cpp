#include "lib/number/precision.hpp"

namespace libperm {

Arithmetic Numbers::arithmetic() const {
    switch (precision) {
    case Precision::exact:
        return Arithmetic::modular;
    case Precision::dd:
        return complex ? Arithmetic::complex_dd : Arithmetic::dd;
    default:
        return complex ? Arithmetic::complex : Arithmetic::real;
    }
}

std::string precision_name(Precision precision) {
    switch (precision) {
    case Precision::automatic:
        return "auto";
    case Precision::double_:
        return "double";
    case Precision::kahan:
        return "kahan";
    case Precision::dq:
        return "dq";
    case Precision::dd:
        return "dd";
    case Precision::exact:
        return "exact";
    case Precision::mpfr:
        return "mpfr";
    }
    return "?";
}

} // namespace libperm
