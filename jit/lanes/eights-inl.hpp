// Eight lanes, which sums are made of in every instruction set, so that all have the same bits; and wider
// ones brought down to them.
#include "jit/lanes/lanes-inl.hpp"

#if defined(LIBPERM_JIT_EIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_EIGHTS_INL_HPP
#undef LIBPERM_JIT_EIGHTS_INL_HPP
#else
#define LIBPERM_JIT_EIGHTS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr int eight_lanes = 8, vectors_of_eight = eight_lanes / static_cast<int>(hn::MaxLanes(Tag()));
using Eight = Wide<vectors_of_eight>;

template <int size> LANES_INLINE Eight to_eight(Wide<size> a) {
    if constexpr (size == vectors_of_eight)
        return a;
    else
        return to_eight<size / 2>(a.low + a.high);
}

// Adds all lanes, by halves.
LANES_INLINE double lane_sum(Eight a) {
    HWY_ALIGN double x[eight_lanes];
    store(a, x);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// A number of `size` vectors in memory, real or complex: its parts one behind the other.
template <int size> LANES_INLINE void get_number(const double *p, Wide<size> &x) { x = load<size>(p); }
template <int size> LANES_INLINE void get_number(const double *p, ComplexOf<Wide<size>> &x) {
    x.re = load<size>(p);
    x.im = load<size>(p + size * static_cast<int>(hn::MaxLanes(Tag())));
}
template <class Number> LANES_INLINE Number get_number(const double *p) {
    Number x;
    get_number(p, x);
    return x;
}
template <int size> LANES_INLINE void put_number(const Wide<size> &x, double *p) { store(x, p); }
template <int size> LANES_INLINE void put_number(const ComplexOf<Wide<size>> &x, double *p) {
    store(x.re, p);
    store(x.im, p + size * static_cast<int>(hn::MaxLanes(Tag())));
}

// A doubled one: its high part first.
template <class D> LANES_INLINE void get_number(const double *p, Twofold<D> &x) {
    get_number(p, x.hi);
    get_number(p + sizeof(D) / sizeof(double), x.lo);
}
template <class D> LANES_INLINE void put_number(const Twofold<D> &x, double *p) {
    put_number(x.hi, p);
    put_number(x.lo, p + sizeof(D) / sizeof(double));
}
template <class D> LANES_INLINE void get_number(const double *p, ComplexOf<Twofold<D>> &x) {
    get_number(p, x.re);
    get_number(p + 2 * sizeof(D) / sizeof(double), x.im);
}
template <class D> LANES_INLINE void put_number(const ComplexOf<Twofold<D>> &x, double *p) {
    put_number(x.re, p);
    put_number(x.im, p + 2 * sizeof(D) / sizeof(double));
}

// By no more than exponent - 1 roundings of each factor, as if one by one.
template <class A> LANES_INLINE typename A::Number power(typename A::Number x, int exponent) {
    for (; exponent % 2 == 0; exponent /= 2) x = A::multiply(x, x);
    typename A::Number result = x;
    while (exponent /= 2) {
        x = A::multiply(x, x);
        if (exponent % 2) result = A::multiply(result, x);
    }
    return result;
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
