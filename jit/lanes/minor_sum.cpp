#include "jit/lanes/minor_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/minor_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/count_steps-inl.hpp"
#include "jit/lanes/left_out-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

#ifndef LIBPERM_MINOR_ADDITIONS
#define LIBPERM_MINOR_ADDITIONS
namespace libperm {
constexpr int additions_between_flushes = 16;
} // namespace libperm
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

template <bool complex, bool split> class MinorWalk {
    using Steps = CountSteps<complex, split>;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;
    using Whole = typename Eights::Number;
    static constexpr int parts = Steps::parts, numbers = complex ? 2 : 1, block = numbers * eight_lanes;
    static constexpr int most_vectors = complex ? 2 : 4; // at once
    using Many = LeftOut<complex, split, most_vectors>;
    using One = LeftOut<complex, split, 1>;

  public:
    LANES_INLINE MinorWalk(const CountedColumns &a, double *space)
        : rows_(a.rows),
          steps_(a),
          many_(a.rows, a.row_count, space),
          one_(a.rows, a.row_count, space),
          terms_(space + Many::space(a.rows)),
          sums_(terms_ + rows_ * block),
          rests_(sums_ + rows_ * block),
          mass_(rests_ + rows_ * block) {
        std::fill(terms_, mass_ + rows_ * eight_lanes, 0.0);
    }
    static std::size_t space(const CountedColumns &a) {
        return Many::space(a.rows) + static_cast<std::size_t>(a.rows * (3 * block + eight_lanes));
    }

    LANES_INLINE void add(std::uint64_t first, std::uint64_t last, LineSums &out) {
        steps_.begin(first);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.advance();
            const double weight = steps_.weight();
            if (weight != 0) add_step(weight);
        }
        flush();
        finish(out);
    }

  private:
    LANES_INLINE void add_step(double weight) {
        int lane = 0;
        for (; lane + Many::lanes <= steps_.lanes(); lane += Many::lanes) add_lanes(many_, weight, lane);
        for (; lane < steps_.lanes(); lane += eight_lanes) add_lanes(one_, weight, lane);
    }
    template <class Products> LANES_INLINE void add_lanes(Products &products, double weight, int lane) {
        constexpr int size = Products::size;
        using D = typename Products::D;
        using Number = typename Products::Number;
        const auto sum_of_part = [&](int part, int i) HWY_ATTR {
            return D(steps_.base(part, i)) + load<size>(steps_.low_sum(part, i, lane));
        };
        const auto sum_of_grids = [&](int part, int i) HWY_ATTR {
            if constexpr (split)
                return sum_of_part(part, i) + sum_of_part(part + 1, i);
            else
                return sum_of_part(part, i);
        };
        products.each(
            D(weight) * load<size>(steps_.low_weight(lane)),
            [&](int i) HWY_ATTR -> Number {
                if constexpr (complex)
                    return {sum_of_grids(0, i), sum_of_grids(parts / 2, i)};
                else
                    return sum_of_grids(0, i);
            },
            [&](int i, const Number &x) HWY_ATTR {
                double *const mass = mass_ + i * eight_lanes, *const terms = terms_ + i * block;
                store(load<vectors_of_eight>(mass) + to_eight<size>(Products::A::magnitude(x)), mass);
                if constexpr (complex)
                    put_number(Eights::add(get_number<Whole>(terms),
                                           Whole{to_eight<size>(x.re), to_eight<size>(x.im)}),
                               terms);
                else
                    put_number(Eights::add(get_number<Whole>(terms), to_eight<size>(x)), terms);
            });
        if (++additions_ == additions_between_flushes) flush();
    }

    LANES_INLINE void flush() {
        for (int k = 0; k < rows_ * block; k += eight_lanes) {
            const Twofold<Eight> s =
                two_sum(load<vectors_of_eight>(sums_ + k), load<vectors_of_eight>(terms_ + k));
            store(s.hi, sums_ + k);
            store(load<vectors_of_eight>(rests_ + k) + s.lo, rests_ + k);
            store(Eight(0.0), terms_ + k);
        }
        additions_ = 0;
    }

    LANES_INLINE void finish(LineSums &out) {
        for (int i = 0; i < rows_; ++i) {
            for (int part = 0; part < numbers; ++part) {
                double &sum = out.sums(part, 0)[i], &rest = out.rests(part, 0)[i];
                const int k = i * block + part * eight_lanes;
                for (int lane = 0; lane < eight_lanes; ++lane) {
                    const Twofold<double> s = two_sum(sum, sums_[k + lane]);
                    sum = s.hi;
                    rest += s.lo + rests_[k + lane];
                }
            }
            out.mass()[i] += lane_sum(load<vectors_of_eight>(mass_ + i * eight_lanes));
        }
    }

    const int rows_;
    Steps steps_;
    Many many_;
    One one_;
    double *const terms_, *const sums_, *const rests_, *const mass_;
    int additions_ = 0;
};

template <class Walk>
std::size_t walk(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                 LineSums *out) {
    if (!out) return Walk::space(a);
    Walk(a, space).add(first, last, *out);
    return 0;
}

// Without `out`: the space that it takes.
std::size_t walk_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                        LineSums *out) {
    if (a.is_complex())
        return a.is_split() ? walk<MinorWalk<true, true>>(a, first, last, space, out)
                            : walk<MinorWalk<true, false>>(a, first, last, space, out);
    return a.is_split() ? walk<MinorWalk<false, true>>(a, first, last, space, out)
                        : walk<MinorWalk<false, false>>(a, first, last, space, out);
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_minors);

} // namespace

int minor_additions(const CountedColumns &) { return additions_between_flushes + 2; }

std::size_t minor_space(const CountedColumns &a) {
    return HWY_DYNAMIC_DISPATCH(walk_minors)(a, 0, 0, nullptr, nullptr);
}

void add_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                LineSums &sums) {
    HWY_DYNAMIC_DISPATCH(walk_minors)(a, first, last, space, &sums);
}

} // namespace libperm
#endif
