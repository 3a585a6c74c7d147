// Numbers side by side in vectors, for each of Highway's targets; the arithmetic of jit/device/number.cuh on
// these, and how they lie in blocks.
#include "jit/lanes/tree_walk.hpp"

#include <cmath>
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

// Numbers of an arithmetic in a block, and one that is the same in all lanes.
template <class Number> struct InBlock {
    static LANES_INLINE Number get(const double *p) {
        Number x;
        read(p, x);
        return x;
    }
    static LANES_INLINE Number same(const double *p) {
        Number x;
        read_same(p, x);
        return x;
    }
    template <class N> static LANES_INLINE void put(double *p, const N &x) {
        if constexpr (requires { x.re; }) {
            put(p, x.re);
            put(p + TreeWalk::lanes * half<N>(), x.im);
        } else if constexpr (requires { x.hi; }) {
            store(x.hi, p);
            store(x.lo, p + TreeWalk::lanes);
        } else {
            store(x, p);
        }
    }

  private:
    template <class N> static constexpr int half() {
        return requires(N x) { x.re.hi; }
        ? 2 : 1;
    }
    template <int size> static LANES_INLINE void read(const double *p, Wide<size> &x) { x = load<size>(p); }
    template <class N> static LANES_INLINE void read(const double *p, N &x) {
        if constexpr (requires { x.re; }) {
            read(p, x.re);
            read(p + TreeWalk::lanes * half<N>(), x.im);
        } else {
            read(p, x.hi);
            read(p + TreeWalk::lanes, x.lo);
        }
    }
    template <int size> static LANES_INLINE void read_same(const double *p, Wide<size> &x) {
        x = Wide<size>(*p);
    }
    template <class N> static LANES_INLINE void read_same(const double *p, N &x) {
        if constexpr (requires { x.re; }) {
            read_same(p, x.re);
            read_same(p + half<N>(), x.im);
        } else {
            read_same(p, x.hi);
            read_same(p + 1, x.lo);
        }
    }
};

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
