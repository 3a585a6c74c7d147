// Eight lanes, which sums are made of in every instruction set, so that all have the same bits; and wider
// ones brought down to them.
#include "jit/lanes/grid_columns.hpp"
#include "jit/lanes/lanes-inl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// Adds lane by lane what they have summed, and what that has lost.
LANES_INLINE void add_lanes(Eight sums, Eight rests, double &sum, double &rest) {
    HWY_ALIGN double x[eight_lanes], lost[eight_lanes];
    store(sums, x);
    store(rests, lost);
    for (int lane = 0; lane < eight_lanes; ++lane) {
        const Twofold<double> s = two_sum(sum, x[lane]);
        sum = s.hi;
        rest += s.lo + lost[lane];
    }
}

// work<complex, split>() as the columns are.
template <class Work> auto by_parts(const GridColumns &a, const Work &work) {
    if (a.is_complex())
        return a.is_split() ? work.template operator()<true, true>()
                            : work.template operator()<true, false>();
    return a.is_split() ? work.template operator()<false, true>() : work.template operator()<false, false>();
}

// Sums of terms for many lines, eight side by side: some terms at a time are added up before what their
// addition loses is kept.
template <bool complex> class EightSums {
  public:
    static constexpr int numbers = complex ? 2 : 1, block = numbers * eight_lanes;

    LANES_INLINE EightSums(int lines, double *space)
        : lines_(lines),
          terms_(space),
          sums_(terms_ + lines * block),
          rests_(sums_ + lines * block),
          mass_(rests_ + lines * block) {
        std::fill(terms_, mass_ + lines * eight_lanes, 0.0);
    }
    static std::size_t space(int lines) {
        return static_cast<std::size_t>(lines * (3 * block + eight_lanes));
    }

    // Each part of a number behind the other.
    double *terms(int line) { return terms_ + line * block; }
    double *sums(int line) { return sums_ + line * block; }
    double *rests(int line) { return rests_ + line * block; }

    LANES_INLINE void add_mass(int line, Eight x) {
        double *const to = mass_ + line * eight_lanes;
        store(load<vectors_of_eight>(to) + x, to);
    }
    LANES_INLINE void flush() {
        for (int k = 0; k < lines_ * block; k += eight_lanes) {
            const Twofold<Eight> s =
                two_sum(load<vectors_of_eight>(sums_ + k), load<vectors_of_eight>(terms_ + k));
            store(s.hi, sums_ + k);
            store(load<vectors_of_eight>(rests_ + k) + s.lo, rests_ + k);
            store(Eight(0.0), terms_ + k);
        }
    }
    LANES_INLINE void finish(LineSums &out) {
        for (int line = 0; line < lines_; ++line) {
            for (int part = 0; part < numbers; ++part)
                add_lanes(load<vectors_of_eight>(sums(line) + part * eight_lanes),
                          load<vectors_of_eight>(rests(line) + part * eight_lanes), out.sums(part, 0)[line],
                          out.rests(part, 0)[line]);
            out.mass()[line] += lane_sum(load<vectors_of_eight>(mass_ + line * eight_lanes));
        }
    }

  private:
    const int lines_;
    double *const terms_, *const sums_, *const rests_, *const mass_;
};

// Adds pieces first to last - 1 of a walk; without `out`: the space that it takes.
template <class Walk, class Columns>
std::size_t walk_lines(const Columns &a, std::uint64_t first, std::uint64_t last, double *space,
                       LineSums *out) {
    if (!out) return Walk::space(a);
    Walk(a, space).add(first, last, *out);
    return 0;
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
