#include "jit/lanes/count_sum.hpp"

#include "jit/lanes/binomials.hpp"
#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/count_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr int of_lanes = count_lanes / static_cast<int>(hn::MaxLanes(Tag()));
using Eight = Wide<of_lanes>;

// The counts of the first kinds are summed over side by side, a step; those of the others follow a reflected
// Gray code (Knuth, The Art of Computer Programming 4A, 7.2.1.1).
template <bool complex, bool split, bool twofold> class CountWalk {
    static constexpr int parts = (complex ? 2 : 1) * (split ? 2 : 1);
    using Part = std::conditional_t<twofold, DD<Eight>, Real<Eight>>;
    using A = std::conditional_t<complex, Complex<Part>, Part>;
    using Number = typename A::Number;

  public:
    HWY_INLINE explicit CountWalk(const CountedColumns &a) : a_(a), low_(low_kinds(a)) {
        a.list(part_);
        tabulate();
    }

    HWY_INLINE CountSum sum(std::uint64_t first, std::uint64_t last) {
        begin(first);
        auto sum = A::zero_sum();
        Eight mass(0.0);
        CountSum all;
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) advance();
            const double weight = step_weight();
            if (weight != 0) {
                add_step(weight, sum, mass);
                ++all.steps;
            }
        }
        total(sum, mass, all);
        all.step_roundings = low_.lanes / count_lanes - 1;
        return all;
    }

  private:
    HWY_INLINE void tabulate() {
        std::fill_n(low_weight_, low_.lanes, 0.0);
        std::fill_n(table_, a_.rows * parts * low_.lanes, 0.0);
        HWY_ALIGN double times[most_low_counts];
        int period = 1;
        for (int j = 0; j < low_.kinds; ++j) {
            const int c = a_.column_count[j];
            for (int lane = 0; lane < low_.lanes; ++lane) {
                const int k = lane / period % (c + 1);
                const double weight = k % 2 ? -binomials.of[c][k] : binomials.of[c][k];
                low_weight_[lane] = j == 0 ? weight : low_weight_[lane] * weight;
                times[lane] = c - 2 * k;
            }
            period *= c + 1;
            for (int i = 0; i < a_.rows; ++i)
                for (int part = 0; part < parts; ++part) {
                    const Eight entry(part_[part][j * a_.stride + i]);
                    double *const to = table(part, i);
                    for (int lane = 0; lane < low_.lanes; lane += count_lanes)
                        store(load<of_lanes>(to + lane) + entry * load<of_lanes>(times + lane), to + lane);
                }
        }
        std::fill(low_weight_ + period, low_weight_ + low_.lanes, 0.0);
    }

    double *table(int part, int i) { return table_ + (i * parts + part) * low_.lanes; }

    HWY_INLINE void begin(std::uint64_t step) {
        for (int part = 0; part < parts; ++part) std::fill_n(base_[part], a_.stride, 0.0);
        for (int j = low_.kinds; j < a_.columns; ++j) {
            const int last = last_count(a_, j);
            const auto counts = static_cast<std::uint64_t>(last) + 1;
            const auto taken = static_cast<int>(step % counts);
            step /= counts;
            by_[j] = step % 2 == 0 ? 1 : -1;
            taken_[j] = by_[j] > 0 ? taken : last - taken;
            for (int part = 0; part < parts; ++part) add_column(part, j, a_.column_count[j] - 2 * taken_[j]);
        }
    }

    HWY_INLINE void advance() { // not beyond the last step
        for (int j = low_.kinds;; ++j) {
            const int next = taken_[j] + by_[j];
            if (next < 0 || next > last_count(a_, j)) {
                by_[j] = -by_[j];
                continue;
            }
            taken_[j] = next;
            for (int part = 0; part < parts; ++part) add_column(part, j, -2 * by_[j]);
            return;
        }
    }
    HWY_INLINE void add_column(int part, int j, double times) {
        const double *const column = part_[part] + j * a_.stride;
        for (int i = 0; i < a_.stride; ++i) base_[part][i] += times * column[i];
    }

    // Of two steps with the same terms one counts, twice; 0 for the other.
    HWY_INLINE double step_weight() const {
        double weight = 1;
        for (int j = a_.columns; j-- > low_.kinds && weight == 1;) {
            const int twice = 2 * taken_[j], c = a_.column_count[j];
            if (twice != c) weight = twice < c ? 2 : 0;
        }
        for (int j = low_.kinds; j < a_.columns && weight != 0; ++j) {
            const double choices = binomials.of[a_.column_count[j]][taken_[j]];
            weight *= taken_[j] % 2 ? -choices : choices;
        }
        return weight;
    }

    HWY_INLINE void add_step(double weight, typename A::Sum &sum, Eight &mass) {
        Number terms = weighted(product(0), 0);
        Eight magnitude = A::magnitude(terms);
        for (int lane = count_lanes; lane < low_.lanes; lane += count_lanes) {
            const Number term = weighted(product(lane), lane);
            terms = A::add(terms, term);
            magnitude = magnitude + A::magnitude(term);
        }
        const Eight by(weight);
        sum = A::sum(sum, times(terms, by));
        mass = mass + magnitude * fabs(by);
    }

    static HWY_INLINE Number times(const Number &x, Eight by) {
        if constexpr (complex)
            return {Part::multiply(x.re, Part::number(by)), Part::multiply(x.im, Part::number(by))};
        else
            return Part::multiply(x, Part::number(by));
    }
    HWY_INLINE Number weighted(const Number &x, int lane) const {
        return times(x, load<of_lanes>(low_weight_ + lane));
    }

    HWY_INLINE Number product(int lane) {
        Number product = power(row_sum(0, lane), a_.row_count[0]);
        for (int i = 1; i < a_.rows; ++i)
            product = A::multiply(product, power(row_sum(i, lane), a_.row_count[i]));
        return product;
    }
    // By no more than exponent - 1 roundings of each factor, as if one by one.
    static HWY_INLINE Number power(Number x, int exponent) {
        for (; exponent % 2 == 0; exponent /= 2) x = A::multiply(x, x);
        Number result = x;
        while (exponent /= 2) {
            x = A::multiply(x, x);
            if (exponent % 2) result = A::multiply(result, x);
        }
        return result;
    }

    HWY_INLINE Eight sum_of_part(int part, int i, int lane) {
        return Eight(base_[part][i]) + load<of_lanes>(table(part, i) + lane);
    }
    HWY_INLINE typename Part::Number sum_of_grids(int part, int i, int lane) {
        if constexpr (!split)
            return Part::number(sum_of_part(part, i, lane));
        else if constexpr (twofold)
            return two_sum(sum_of_part(part, i, lane), sum_of_part(part + 1, i, lane));
        else
            return sum_of_part(part, i, lane) + sum_of_part(part + 1, i, lane);
    }
    HWY_INLINE Number row_sum(int i, int lane) {
        if constexpr (complex)
            return {sum_of_grids(0, i, lane), sum_of_grids(parts / 2, i, lane)};
        else
            return sum_of_grids(0, i, lane);
    }

    static HWY_INLINE void add_lanes(Eight s, Eight e, double &sum, double &rest) {
        HWY_ALIGN double sums[count_lanes], errors[count_lanes];
        store(s, sums);
        store(e, errors);
        for (int k = 0; k < count_lanes; ++k) {
            const Twofold<double> s2 = two_sum(sum, sums[k]);
            sum = s2.hi;
            rest += s2.lo + errors[k];
        }
    }
    static HWY_INLINE void add_lanes(const typename Part::Sum &s, double &sum, double &rest) {
        if constexpr (twofold)
            add_lanes(s.hi, s.lo, sum, rest);
        else
            add_lanes(s.sum, s.error, sum, rest);
    }
    static HWY_INLINE void total(const typename A::Sum &sum, Eight mass, CountSum &all) {
        if constexpr (complex) {
            add_lanes(sum.re, all.re, all.re_rest);
            add_lanes(sum.im, all.im, all.im_rest);
        } else {
            add_lanes(sum, all.re, all.re_rest);
        }
        HWY_ALIGN double masses[count_lanes];
        store(mass, masses);
        for (const double m : masses) all.mass += m;
    }

    const CountedColumns &a_;
    const double *part_[parts];
    const LowKinds low_;
    int taken_[most_kinds], by_[most_kinds];                       // k, and whether it goes up or down
    HWY_ALIGN double base_[parts][most_kinds];                     // the other kinds' part of the row sums
    HWY_ALIGN double low_weight_[most_low_counts];                 // with its sign
    HWY_ALIGN double table_[most_kinds * parts * most_low_counts]; // what the low kinds add to the row sums
};

template <bool complex, bool split>
CountSum walk(const CountedColumns &a, bool twofold, std::uint64_t first, std::uint64_t last) {
    return twofold ? CountWalk<complex, split, true>(a).sum(first, last)
                   : CountWalk<complex, split, false>(a).sum(first, last);
}

CountSum walk_counts(const CountedColumns &a, bool twofold, std::uint64_t first, std::uint64_t last) {
    if (a.is_complex())
        return a.is_split() ? walk<true, true>(a, twofold, first, last)
                            : walk<true, false>(a, twofold, first, last);
    return a.is_split() ? walk<false, true>(a, twofold, first, last)
                        : walk<false, false>(a, twofold, first, last);
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

CountSum sum_over_counts(const CountedColumns &a, bool twofold, std::uint64_t first, std::uint64_t last) {
    return HWY_DYNAMIC_DISPATCH(walk_counts)(a, twofold, first, last);
}

} // namespace libperm
#endif
