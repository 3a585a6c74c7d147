// Numbers side by side in vectors, for each of Highway's targets; the arithmetic of jit/device/number.cuh on
// these, and how they lie in blocks.
#include "jit/number/arithmetic.hpp"

#include <cmath>
#include <cstddef>
#include <hwy/highway.h>

#if defined(LIBPERM_JIT_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_LANES_INL_HPP
#undef LIBPERM_JIT_LANES_INL_HPP
#else
#define LIBPERM_JIT_LANES_INL_HPP
#endif

// All of a walk is one function, but where there are no vectors: eight times as long there, it would take
// half of the time to compile.
#undef LANES_INLINE
#if HWY_TARGET == HWY_SCALAR
#define LANES_INLINE inline
#else
#define LANES_INLINE HWY_INLINE
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;

// a * b + c, rounded once.
LANES_INLINE Vector multiply_add(Vector a, Vector b, Vector c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    HWY_ALIGN double x[hn::MaxLanes(Tag())], y[hn::MaxLanes(Tag())], z[hn::MaxLanes(Tag())];
    hn::Store(a, Tag(), x);
    hn::Store(b, Tag(), y);
    hn::Store(c, Tag(), z);
    for (std::size_t k = 0; k < hn::MaxLanes(Tag()); ++k) z[k] = std::fma(x[k], y[k], z[k]);
    return hn::Load(Tag(), z);
#endif
}

LANES_INLINE Vector negated_multiply_add(Vector a, Vector b, Vector c) {
#if HWY_NATIVE_FMA
    return hn::NegMulAdd(a, b, c);
#else
    return multiply_add(hn::Neg(a), b, c);
#endif
}

// Vectors that go through a program together, enough to hide how long an operation takes. In pairs of pairs,
// as compilers keep these in registers.
template <int size> struct Wide {
    Wide<size / 2> low, high;

    Wide() = default;
    LANES_INLINE Wide(Wide<size / 2> l, Wide<size / 2> h) : low(l), high(h) {}
    LANES_INLINE explicit Wide(double x) : low(x), high(x) {}
};
template <> struct Wide<1> {
    Vector v;

    Wide() = default;
    LANES_INLINE Wide(Vector x) : v(x) {}
    LANES_INLINE explicit Wide(double x) : v(hn::Set(Tag(), x)) {}
};

template <int size> LANES_INLINE Wide<size> load(const double *p) {
    if constexpr (size == 1)
        return {hn::Load(Tag(), p)};
    else
        return {load<size / 2>(p), load<size / 2>(p + size / 2 * hn::MaxLanes(Tag()))};
}
template <int size> LANES_INLINE void store(Wide<size> a, double *p) {
    if constexpr (size == 1) {
        hn::Store(a.v, Tag(), p);
    } else {
        store(a.low, p);
        store(a.high, p + size / 2 * hn::MaxLanes(Tag()));
    }
}

// Wherever it stands.
template <int size> LANES_INLINE Wide<size> load_anywhere(const double *p) {
    if constexpr (size == 1)
        return {hn::LoadU(Tag(), p)};
    else
        return {load_anywhere<size / 2>(p), load_anywhere<size / 2>(p + size / 2 * hn::MaxLanes(Tag()))};
}
template <int size> LANES_INLINE void store_anywhere(Wide<size> a, double *p) {
    if constexpr (size == 1) {
        hn::StoreU(a.v, Tag(), p);
    } else {
        store_anywhere(a.low, p);
        store_anywhere(a.high, p + size / 2 * hn::MaxLanes(Tag()));
    }
}

#define PERM_OF_ONE(name, expression)                                                                        \
    template <int size> LANES_INLINE Wide<size> name(Wide<size> a) {                                         \
        if constexpr (size == 1)                                                                             \
            return {expression};                                                                             \
        else                                                                                                 \
            return {name(a.low), name(a.high)};                                                              \
    }
#define PERM_OF_TWO(name, expression)                                                                        \
    template <int size> LANES_INLINE Wide<size> name(Wide<size> a, Wide<size> b) {                           \
        if constexpr (size == 1)                                                                             \
            return {expression};                                                                             \
        else                                                                                                 \
            return {name(a.low, b.low), name(a.high, b.high)};                                               \
    }
#define PERM_OF_THREE(name, expression)                                                                      \
    template <int size> LANES_INLINE Wide<size> name(Wide<size> a, Wide<size> b, Wide<size> c) {             \
        if constexpr (size == 1)                                                                             \
            return {expression};                                                                             \
        else                                                                                                 \
            return {name(a.low, b.low, c.low), name(a.high, b.high, c.high)};                                \
    }
PERM_OF_ONE(operator-, hn::Neg(a.v))
// As in jit/device/derivative.cuh.
LANES_INLINE Vector high_word(Vector a) {
    return hn::And(a, hn::BitCast(Tag(), hn::Set(hn::RebindToUnsigned<Tag>(), 0x7fffffff00000000)));
}
LANES_INLINE Vector reciprocal_of(Vector a) {
    const hn::RebindToUnsigned<Tag> bits;
    const Vector most = hn::Max(a, hn::Set(Tag(), 0x1p-400));
    return hn::BitCast(Tag(), hn::Sub(hn::Set(bits, 0x8020000000000000), hn::BitCast(bits, most)));
}
PERM_OF_ONE(fabs, hn::Abs(a.v))
PERM_OF_ONE(reciprocal, reciprocal_of(a.v))
PERM_OF_TWO(least, hn::Min(high_word(a.v), high_word(b.v)))
PERM_OF_TWO(operator+, hn::Add(a.v, b.v))
PERM_OF_TWO(operator-, hn::Sub(a.v, b.v))
PERM_OF_TWO(operator*, hn::Mul(a.v, b.v))
PERM_OF_TWO(fmax, hn::Max(a.v, b.v))
PERM_OF_THREE(fma, multiply_add(a.v, b.v, c.v))
PERM_OF_THREE(fnma, negated_multiply_add(a.v, b.v, c.v))
PERM_OF_THREE(absolute_madd, multiply_add(hn::Abs(a.v), b.v, c.v)) // |a| * b + c
#undef PERM_OF_ONE
#undef PERM_OF_TWO
#undef PERM_OF_THREE

using std::fabs, std::fma;
#define __device__
#define __forceinline__ LANES_INLINE
#include "jit/device/number.cuh"
#undef __device__
#undef __forceinline__

// Doubles that a number is made of: in its parts, and in all lanes.
template <class N> constexpr std::size_t part_count() {
    if constexpr (requires(N x) { x.re; })
        return 2 * part_count<decltype(N::re)>();
    else
        return requires(N x) { x.hi; }
    ? 2 : 1;
}
template <class N> constexpr std::size_t doubles_in = sizeof(N) / sizeof(double);
template <class N> constexpr std::size_t part_doubles = doubles_in<N> / part_count<N>();

template <int size> LANES_INLINE void load_part(const double *p, Wide<size> &x) { x = load<size>(p); }
LANES_INLINE void load_part(const double *p, double &x) { x = *p; }
template <int size> LANES_INLINE void store_part(Wide<size> x, double *p) { store(x, p); }
LANES_INLINE void store_part(double x, double *p) { *p = x; }

// A number's parts, so many doubles from each other; same: each is one double, for all lanes.
template <bool same, class N> LANES_INLINE void get_parts(const double *p, std::size_t apart, N &x) {
    if constexpr (requires { x.re; }) {
        get_parts<same>(p, apart, x.re);
        get_parts<same>(p + part_count<decltype(x.re)>() * apart, apart, x.im);
    } else if constexpr (requires { x.hi; }) {
        get_parts<same>(p, apart, x.hi);
        get_parts<same>(p + apart, apart, x.lo);
    } else if constexpr (same) {
        x = N(*p);
    } else {
        load_part(p, x);
    }
}
template <class N>
LANES_INLINE void write_number(const N &x, double *p, std::size_t apart = part_doubles<N>) {
    if constexpr (requires { x.re; }) {
        write_number(x.re, p, apart);
        write_number(x.im, p + part_count<decltype(x.re)>() * apart, apart);
    } else if constexpr (requires { x.hi; }) {
        write_number(x.hi, p, apart);
        write_number(x.lo, p + apart, apart);
    } else {
        store_part(x, p);
    }
}
template <class N> LANES_INLINE N read_number(const double *p, std::size_t apart = part_doubles<N>) {
    N x;
    get_parts<false>(p, apart, x);
    return x;
}
template <class N> LANES_INLINE N same_number(const double *p) {
    N x;
    get_parts<true>(p, 1, x);
    return x;
}

// work() of the arithmetic, which is neither modular nor of the tree engine alone.
template <class D, class Work> void in_arithmetic(Arithmetic arithmetic, const Work &work) {
    switch (arithmetic) {
    case Arithmetic::complex:
        return work(Complex<Real<D>>());
    case Arithmetic::dd:
        return work(DD<D>());
    case Arithmetic::complex_dd:
        return work(Complex<DD<D>>());
    default:
        return work(Real<D>());
    }
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
