// An arithmetic's numbers on the host, from and to the doubles that they are made of.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "jit/number/number.hpp"

#include <cstddef>

namespace libperm {

inline void number_from(const double *p, std::size_t, double &x) { x = *p; }
inline void number_from(const double *p, std::size_t stride, number::Twofold<double> &x) {
    x = {p[0], p[stride]};
}
template <class Part> void number_from(const double *p, std::size_t stride, number::ComplexOf<Part> &x) {
    number_from(p, stride, x.re);
    number_from(p + sizeof(Part) / sizeof(double) * stride, stride, x.im);
}
inline void number_to(double x, double *p) { *p = x; }
inline void number_to(const number::Twofold<double> &x, double *p) {
    p[0] = x.hi;
    p[1] = x.lo;
}
template <class Part> void number_to(const number::ComplexOf<Part> &x, double *p) {
    number_to(x.re, p);
    number_to(x.im, p + sizeof(Part) / sizeof(double));
}

// work(the arithmetic of jit/device/number.cuh)
template <class Work> auto with_arithmetic_of(Arithmetic arithmetic, double prime, const Work &work) {
    using namespace number;
    switch (arithmetic) {
    case Arithmetic::complex:
        return work(Complex<Real<double>>{});
    case Arithmetic::dd:
        return work(DD<double>{});
    case Arithmetic::complex_dd:
        return work(Complex<DD<double>>{});
    case Arithmetic::modular:
        return work(Modular<double>{prime, 1 / prime});
    default:
        return work(Real<double>{});
    }
}

} // namespace libperm
