#include "jit/lanes/count_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/count_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/count_steps-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

template <bool complex, bool split, bool dd> class CountWalk {
    using Sums = RowSums<complex, split, dd, vectors_of_eight>;
    using Part = typename Sums::Part;
    using A = typename Sums::A;
    using Number = typename A::Number;

  public:
    LANES_INLINE explicit CountWalk(const CountedColumns &a) : a_(a), steps_(a) {}

    LANES_INLINE CountSum sum(std::uint64_t first, std::uint64_t last) {
        steps_.begin(first);
        auto sum = A::zero_sum();
        Eight mass(0.0);
        CountSum all;
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.advance();
            const double weight = steps_.weight();
            if (weight != 0) {
                add_step(weight, sum, mass);
                ++all.steps;
            }
        }
        total(sum, mass, all);
        all.step_roundings = steps_.lanes() / count_lanes - 1;
        return all;
    }

  private:
    LANES_INLINE void add_step(double weight, typename A::Sum &sum, Eight &mass) {
        Number terms = weighted(product(0), 0);
        Eight magnitude = A::magnitude(terms);
        for (int lane = count_lanes; lane < steps_.lanes(); lane += count_lanes) {
            const Number term = weighted(product(lane), lane);
            terms = A::add(terms, term);
            magnitude = magnitude + A::magnitude(term);
        }
        const Eight by(weight);
        sum = A::sum(sum, times(terms, by));
        mass = mass + magnitude * fabs(by);
    }

    static LANES_INLINE Number times(const Number &x, Eight by) {
        if constexpr (complex)
            return {Part::multiply(x.re, Part::number(by)), Part::multiply(x.im, Part::number(by))};
        else
            return Part::multiply(x, Part::number(by));
    }
    LANES_INLINE Number weighted(const Number &x, int lane) const {
        return times(x, load<vectors_of_eight>(steps_.low_weight(lane)));
    }

    LANES_INLINE Number product(int lane) {
        Number product = power<A>(row_sum(0, lane), a_.row_count[0]);
        for (int i = 1; i < a_.rows; ++i)
            product = A::multiply(product, power<A>(row_sum(i, lane), a_.row_count[i]));
        return product;
    }
    LANES_INLINE Number row_sum(int i, int lane) const { return Sums::of(steps_, i, lane); }

    static LANES_INLINE void add_part(const typename Part::Sum &s, double &sum, double &rest) {
        if constexpr (dd)
            add_lanes(s.hi, s.lo, sum, rest);
        else
            add_lanes(s.sum, s.error, sum, rest);
    }
    static LANES_INLINE void total(const typename A::Sum &sum, Eight mass, CountSum &all) {
        if constexpr (complex) {
            add_part(sum.re, all.re, all.re_rest);
            add_part(sum.im, all.im, all.im_rest);
        } else {
            add_part(sum, all.re, all.re_rest);
        }
        HWY_ALIGN double masses[count_lanes];
        store(mass, masses);
        for (const double m : masses) all.mass += m;
    }

    const CountedColumns &a_;
    CountSteps<complex, split> steps_;
};

template <class Walk> CountSum walk(const CountedColumns &a, std::uint64_t first, std::uint64_t last) {
    return Walk(a).sum(first, last);
}

CountSum walk_counts(const CountedColumns &a, bool dd, std::uint64_t first, std::uint64_t last) {
    return by_parts(a, [&]<bool complex, bool split>() {
        return dd ? walk<CountWalk<complex, split, true>>(a, first, last)
                  : walk<CountWalk<complex, split, false>>(a, first, last);
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_counts);

} // namespace

// As many kinds as leave the fewest lanes empty, for their number.
LowKinds low_kinds(const CountedColumns &a) {
    LowKinds low;
    double best = 0;
    for (int j = 0, all = 1; j < a.columns; ++j) {
        all *= a.column_count[j] + 1;
        if (all > most_low_counts) break;
        const int lanes = (all + count_lanes - 1) / count_lanes * count_lanes;
        const double share = static_cast<double>(all) / lanes;
        if (share < best - 0.1) continue;
        best = std::max(best, share);
        low = {j + 1, lanes};
    }
    return low;
}

std::uint64_t count_steps(const CountedColumns &a) {
    std::uint64_t steps = 1;
    for (int j = low_kinds(a).kinds; j < a.columns; ++j)
        steps *= static_cast<std::uint64_t>(last_count(a, j)) + 1;
    return steps;
}

CountSum sum_over_counts(const CountedColumns &a, bool dd, std::uint64_t first, std::uint64_t last) {
    return HWY_DYNAMIC_DISPATCH(walk_counts)(a, dd, first, last);
}

} // namespace libperm
#endif
