#include "jit/tape_walk.hpp"

#include <hwy/detect_compiler_arch.h>

#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/tape_walk.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

using Eight = Wide<tape_lanes / static_cast<int>(hn::MaxLanes(Tag()))>;

// A number's parts, each in so many lanes.
HWY_INLINE void read_parts(const double *p, double &x) { x = *p; }
template <int size> HWY_INLINE void read_parts(const double *p, Wide<size> &x) { x = load<size>(p); }
template <class N> HWY_INLINE void read_parts(const double *p, N &x) {
    if constexpr (requires { x.re; }) {
        read_parts(p, x.re);
        read_parts(p + sizeof x.re / sizeof(double), x.im);
    } else {
        read_parts(p, x.hi);
        read_parts(p + sizeof x.hi / sizeof(double), x.lo);
    }
}
HWY_INLINE void put_parts(double x, double *p) { *p = x; }
template <int size> HWY_INLINE void put_parts(Wide<size> x, double *p) { store(x, p); }
template <class N> HWY_INLINE void put_parts(const N &x, double *p) {
    if constexpr (requires { x.re; }) {
        put_parts(x.re, p);
        put_parts(x.im, p + sizeof x.re / sizeof(double));
    } else {
        put_parts(x.hi, p);
        put_parts(x.lo, p + sizeof x.hi / sizeof(double));
    }
}

// A number and what bounds it.
template <class A, bool magnitudes> struct Bounded {
    using D = typename A::Scalar;
    using Number = typename A::Number;
    static constexpr int lanes = static_cast<int>(sizeof(D) / sizeof(double));
    static constexpr int block = (A::parts + (magnitudes ? 1 : 0)) * lanes;

    Number value;
    D magnitude;

    HWY_INLINE Bounded() : value(A::number(D(0.0))), magnitude(D(0.0)) {}

    static HWY_INLINE Bounded one() {
        Bounded x;
        x.value = A::number(D(1.0));
        x.magnitude = D(1.0);
        return x;
    }
    static HWY_INLINE Bounded at(const double *p) {
        Bounded x;
        read_parts(p, x.value);
        if constexpr (magnitudes) read_parts(p + A::parts * lanes, x.magnitude);
        return x;
    }
    HWY_INLINE void put(double *p) const {
        put_parts(value, p);
        if constexpr (magnitudes) put_parts(magnitude, p + A::parts * lanes);
    }
    HWY_INLINE void add_product(const Bounded &a, const Bounded &b) {
        value = A::madd(a.value, b.value, value);
        if constexpr (magnitudes) magnitude = fma(a.magnitude, b.magnitude, magnitude);
    }
};

template <class N> class TapeWalk {
  public:
    TapeWalk(const Tape &tape, const double *entries) : tape_(tape), entries_(entries) {}

    const double *forward(double *states, bool keep) const {
        if (tape_.moves.empty() && tape_.n > 0) return nullptr;
        const auto row_at = [&](std::int32_t r) {
            return states + (keep ? tape_.first_state[static_cast<std::size_t>(r)]
                                  : (r % 2 == 0 ? 0 : tape_.most_states)) *
                                std::size_t{N::block};
        };
        N::one().put(row_at(0));
        for (std::int32_t r = 1; r <= tape_.n; ++r) row(r, row_at(r - 1), row_at(r));
        return row_at(tape_.n);
    }

    void backward(const double *states, double *slopes, double *gradient) const {
        const std::size_t count = tape_.states();
        for (std::size_t k = 0; k < count; ++k) N().put(slopes + k * N::block);
        for (std::int64_t e = 0; e < tape_.nnz; ++e) N().put(gradient + e * N::block);
        N::one().put(slopes + (count - 1) * N::block);
        for (std::int32_t r = tape_.n; r >= 1; --r) row_back(r, states, slopes, gradient);
    }

  private:
    void row(std::int32_t r, const double *before, double *after) const {
        const std::uint32_t begin = tape_.first_state[static_cast<std::size_t>(r)];
        const std::uint32_t end = tape_.first_state[static_cast<std::size_t>(r) + 1];
        const TapeMove *move = tape_.moves.data() + tape_.first_move[begin];
        for (std::uint32_t s = begin; s < end; ++s, after += N::block) {
            const TapeMove *const last = tape_.moves.data() + tape_.first_move[s + 1];
            N sum;
            for (; move != last; ++move)
                sum.add_product(N::at(entries_ + std::size_t{move->entry} * N::block),
                                N::at(before + std::size_t{move->source} * N::block));
            sum.put(after);
        }
    }

    void row_back(std::int32_t r, const double *states, double *slopes, double *gradient) const {
        const std::uint32_t first = tape_.first_state[static_cast<std::size_t>(r) - 1];
        const std::uint32_t begin = tape_.first_state[static_cast<std::size_t>(r)];
        const std::uint32_t end = tape_.first_state[static_cast<std::size_t>(r) + 1];
        for (std::uint32_t s = begin; s < end; ++s) {
            const N slope = N::at(slopes + std::size_t{s} * N::block);
            for (std::uint32_t k = tape_.first_move[s]; k < tape_.first_move[s + 1]; ++k) {
                const TapeMove move = tape_.moves[k];
                const std::size_t source = std::size_t{first + move.source} * N::block,
                                  entry = std::size_t{move.entry} * N::block;
                N of_source = N::at(slopes + source), of_entry = N::at(gradient + entry);
                of_source.add_product(N::at(entries_ + entry), slope);
                of_entry.add_product(N::at(states + source), slope);
                of_source.put(slopes + source);
                of_entry.put(gradient + entry);
            }
        }
    }

    const Tape &tape_;
    const double *entries_;
};

template <class D, class Work> void in_arithmetic(TapeLayout layout, const Work &work) {
    const auto with = [&](auto arithmetic) {
        using A = decltype(arithmetic);
        layout.magnitudes ? work(Bounded<A, true>()) : work(Bounded<A, false>());
    };
    switch (layout.arithmetic) {
    case Arithmetic::complex:
        return with(Complex<Real<D>>());
    case Arithmetic::dd:
        return with(DD<D>());
    case Arithmetic::complex_dd:
        return with(Complex<DD<D>>());
    default:
        return with(Real<D>());
    }
}

template <class Work> void in_numbers(TapeLayout layout, const Work &work) {
    layout.lanes == 1 ? in_arithmetic<double>(layout, work) : in_arithmetic<Eight>(layout, work);
}

const double *forward(const Tape &tape, TapeLayout layout, const double *entries, double *states, bool keep) {
    const double *last = nullptr;
    in_numbers(layout,
               [&](auto number) { last = TapeWalk<decltype(number)>(tape, entries).forward(states, keep); });
    return last;
}

void backward(const Tape &tape, TapeLayout layout, const double *entries, const double *states,
              double *slopes, double *gradient) {
    in_numbers(layout, [&](auto number) {
        TapeWalk<decltype(number)>(tape, entries).backward(states, slopes, gradient);
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

} // namespace

const double *run_tape(const Tape &tape, TapeLayout layout, const double *entries, double *states,
                       bool keep) {
    return HWY_DYNAMIC_DISPATCH(forward)(tape, layout, entries, states, keep);
}

void run_tape_back(const Tape &tape, TapeLayout layout, const double *entries, const double *states,
                   double *slopes, double *gradient) {
    HWY_DYNAMIC_DISPATCH(backward)(tape, layout, entries, states, slopes, gradient);
}

} // namespace libperm
#endif
