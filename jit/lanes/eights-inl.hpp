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
template <int size> LANES_INLINE ComplexOf<Eight> to_eight(const ComplexOf<Wide<size>> &a) {
    return {to_eight<size>(a.re), to_eight<size>(a.im)};
}

// Adds all lanes, by halves.
LANES_INLINE double lane_sum(Eight a) {
    HWY_ALIGN double x[eight_lanes];
    store(a, x);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
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

// The sums of a row's entries, as numbers: of the columns that tell lanes apart, a table's `low_sum`, and of
// the others, `base`. On two grids in doubles rounded, in double-doubles not.
template <bool complex, bool split, bool dd, int size> struct RowSums {
    static constexpr int parts = (complex ? 2 : 1) * (split ? 2 : 1);
    using D = Wide<size>;
    using Part = std::conditional_t<dd, DD<D>, Real<D>>;
    using A = std::conditional_t<complex, Complex<Part>, Part>;
    using Number = typename A::Number;

    template <class Steps> static LANES_INLINE Number of(const Steps &steps, int i, int lane = 0) {
        if constexpr (complex)
            return {of_grids(steps, 0, i, lane), of_grids(steps, parts / 2, i, lane)};
        else
            return of_grids(steps, 0, i, lane);
    }

  private:
    template <class Steps> static LANES_INLINE D of_part(const Steps &steps, int part, int i, int lane) {
        return D(steps.base(part, i)) + load<size>(steps.low_sum(part, i, lane));
    }
    template <class Steps>
    static LANES_INLINE typename Part::Number of_grids(const Steps &steps, int part, int i, int lane) {
        if constexpr (!split)
            return Part::number(of_part(steps, part, i, lane));
        else if constexpr (dd)
            return two_sum(of_part(steps, part, i, lane), of_part(steps, part + 1, i, lane));
        else
            return of_part(steps, part, i, lane) + of_part(steps, part + 1, i, lane);
    }
};

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
