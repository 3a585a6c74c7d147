// The steps of a sum over counts (count_sum.hpp): those of the first kinds are summed over side by side, in
// lanes; those of the others follow a reflected Gray code (Knuth, The Art of Computer Programming
// 4A, 7.2.1.1).
#include "jit/lanes/count_sum.hpp"
#include "jit/lanes/eights-inl.hpp"

#include <algorithm>

#if defined(LIBPERM_JIT_COUNT_STEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef LIBPERM_JIT_COUNT_STEPS_INL_HPP
#undef LIBPERM_JIT_COUNT_STEPS_INL_HPP
#else
#define LIBPERM_JIT_COUNT_STEPS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

template <bool complex, bool split> class CountSteps {
  public:
    static constexpr int parts = (complex ? 2 : 1) * (split ? 2 : 1);

    LANES_INLINE explicit CountSteps(const CountedColumns &a) : a_(a), low_(low_kinds(a)) {
        a.list(part_);
        tabulate();
    }

    int lanes() const { return low_.lanes; }
    const double *low_weight(int lane) const { return low_weight_ + lane; } // with its sign
    const double *low_sum(int part, int i, int lane) const {                // of the first kinds
        return table_ + (i * parts + part) * low_.lanes + lane;
    }
    double base(int part, int i) const { return base_[part][i]; } // of the others

    LANES_INLINE void begin(std::uint64_t step) {
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

    LANES_INLINE void advance() { // not beyond the last step
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
    // Of two steps with the same terms one counts, twice; 0 for the other.
    LANES_INLINE double weight() const {
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

  private:
    LANES_INLINE void tabulate() {
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
                    for (int lane = 0; lane < low_.lanes; lane += eight_lanes)
                        store(load<vectors_of_eight>(to + lane) +
                                  entry * load<vectors_of_eight>(times + lane),
                              to + lane);
                }
        }
        std::fill(low_weight_ + period, low_weight_ + low_.lanes, 0.0);
    }

    double *table(int part, int i) { return table_ + (i * parts + part) * low_.lanes; }

    LANES_INLINE void add_column(int part, int j, double times) {
        const double *const column = part_[part] + j * a_.stride;
        for (int i = 0; i < a_.stride; ++i) base_[part][i] += times * column[i];
    }

    const CountedColumns &a_;
    const double *part_[parts];
    const LowKinds low_;
    int taken_[most_summed_kinds], by_[most_summed_kinds]; // k, and whether it goes up or down
    HWY_ALIGN double base_[parts][most_summed_kinds];      // the other kinds' part of the row sums
    HWY_ALIGN double low_weight_[most_low_counts];
    HWY_ALIGN double table_[most_summed_kinds * parts * most_low_counts];
};

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
