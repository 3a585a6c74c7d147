#include "lib/number/precision.hpp"

#include <cstddef>

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
    constexpr const char *names[] = {"auto", "double", "kahan", "dq", "dd", "exact", "mpfr"};
    return names[static_cast<std::size_t>(precision)];
}

} // namespace libperm
