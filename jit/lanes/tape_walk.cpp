#include "jit/lanes/tape_walk.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/tape_walk.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

using Eight = Wide<tape_lanes / static_cast<int>(hn::MaxLanes(Tag()))>;

// A number and what bounds it.
template <class A, bool magnitudes> struct Bounded {
    using D = typename A::Scalar;
    using Number = typename A::Number;
    static constexpr int lanes = static_cast<int>(doubles_in<D>);
    static constexpr int block = (A::parts + (magnitudes ? 1 : 0)) * lanes;

    Number value;
    D magnitude;

    LANES_INLINE Bounded() : value(A::number(D(0.0))), magnitude(D(0.0)) {}

    static LANES_INLINE Bounded one() {
        Bounded x;
        x.value = A::number(D(1.0));
        x.magnitude = D(1.0);
        return x;
    }
    static LANES_INLINE Bounded at(const double *p) {
        Bounded x;
        x.value = read_number<Number>(p);
        if constexpr (magnitudes) x.magnitude = read_number<D>(p + A::parts * lanes);
        return x;
    }
    LANES_INLINE void put(double *p) const {
        write_number(value, p);
        if constexpr (magnitudes) write_number(magnitude, p + A::parts * lanes);
    }
    LANES_INLINE void add_product(const Bounded &a, const Bounded &b) {
        value = A::madd(a.value, b.value, value);
        if constexpr (magnitudes) magnitude = fma(a.magnitude, b.magnitude, magnitude);
    }
};

template <class N> class TapeWalk {
  public:
    TapeWalk(const Tape &tape, const double *entries) : tape_(tape), entries_(entries) {}

    const double *all(double *states) const {
        if (tape_.moves.empty() && tape_.n > 0) return nullptr;
        const auto row_at = [&](std::int32_t r) {
            return states + (r % 2 == 0 ? 0 : tape_.most_states) * std::size_t{N::block};
        };
        N::one().put(row_at(0));
        for (std::int32_t r = 1; r <= tape_.n; ++r) {
            const auto k = static_cast<std::size_t>(r);
            forward({r, 0, tape_.first_state[k + 1] - tape_.first_state[k]}, row_at(r - 1), row_at(r));
        }
        return row_at(tape_.n);
    }

    void forward(TapeRange range, const double *before, double *after) const {
        const std::uint32_t begin = tape_.first_state[static_cast<std::size_t>(range.list)];
        const TapeMove *move = tape_.moves.data() + tape_.first_move[begin + range.first];
        for (std::uint32_t s = range.first; s < range.last; ++s) {
            const TapeMove *const last = tape_.moves.data() + tape_.first_move[begin + s + 1];
            N sum;
            for (; move != last; ++move)
                sum.add_product(N::at(entries_ + std::size_t{move->entry} * N::block),
                                N::at(before + std::size_t{move->source} * N::block));
            sum.put(after + std::size_t{s} * N::block);
        }
    }

    void backward(TapeRange range, const double *states, TapeSlopes slopes, double *gradient) const {
        const std::uint32_t begin = tape_.first_state[static_cast<std::size_t>(range.list)];
        const TapeMove *move = tape_.moves.data() + tape_.first_move[begin + range.first];
        for (std::uint32_t s = range.first; s < range.last; ++s) {
            const TapeMove *const last = tape_.moves.data() + tape_.first_move[begin + s + 1];
            const N state = N::at(states + std::size_t{s} * N::block);
            N slope;
            for (; move != last; ++move) {
                const std::size_t entry = std::size_t{move->entry} * N::block;
                const N after = N::at(slopes.after + std::size_t{move->source} * N::block);
                N of_entry = N::at(gradient + entry);
                slope.add_product(N::at(entries_ + entry), after);
                of_entry.add_product(state, after);
                of_entry.put(gradient + entry);
            }
            slope.put(slopes.here + std::size_t{s} * N::block);
        }
    }

  private:
    const Tape &tape_;
    const double *entries_;
};

template <class Work> void in_numbers(TapeLayout layout, const Work &work) {
    const auto with = [&]<class A>(A) {
        layout.magnitudes ? work(Bounded<A, true>()) : work(Bounded<A, false>());
    };
    layout.lanes == 1 ? in_arithmetic<double>(layout.arithmetic, with)
                      : in_arithmetic<Eight>(layout.arithmetic, with);
}

const double *all(const Tape &tape, TapeLayout layout, const double *entries, double *states) {
    const double *last = nullptr;
    in_numbers(layout, [&](auto number) { last = TapeWalk<decltype(number)>(tape, entries).all(states); });
    return last;
}

void forward(const Tape &tape, TapeLayout layout, TapeRange range, const double *entries,
             const double *before, double *after) {
    in_numbers(layout,
               [&](auto number) { TapeWalk<decltype(number)>(tape, entries).forward(range, before, after); });
}

void backward(const Tape &way_back, TapeLayout layout, TapeRange range, const double *entries,
              const double *states, TapeSlopes slopes, double *gradient) {
    in_numbers(layout, [&](auto number) {
        TapeWalk<decltype(number)>(way_back, entries).backward(range, states, slopes, gradient);
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(all);
HWY_EXPORT(forward);
HWY_EXPORT(backward);

} // namespace

const double *run_tape(const Tape &tape, TapeLayout layout, const double *entries, double *states) {
    return HWY_DYNAMIC_DISPATCH(all)(tape, layout, entries, states);
}

void run_tape_list(const Tape &tape, TapeLayout layout, TapeRange range, const double *entries,
                   const double *before, double *after) {
    HWY_DYNAMIC_DISPATCH(forward)(tape, layout, range, entries, before, after);
}

void run_tape_list_back(const Tape &way_back, TapeLayout layout, TapeRange range, const double *entries,
                        const double *states, TapeSlopes slopes, double *gradient) {
    HWY_DYNAMIC_DISPATCH(backward)(way_back, layout, range, entries, states, slopes, gradient);
}

} // namespace libperm
#endif
