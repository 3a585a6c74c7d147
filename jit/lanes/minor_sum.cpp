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
    static constexpr int most_vectors = complex ? 2 : 4; // at once
    using Many = LeftOut<complex, split, most_vectors>;
    using One = LeftOut<complex, split, 1>;

  public:
    LANES_INLINE MinorWalk(const CountedColumns &a, double *space)
        : steps_(a),
          many_(a.rows, a.row_count, space),
          one_(a.rows, a.row_count, space),
          sums_(a.rows, space + Many::space(a.rows)) {}
    static std::size_t space(const CountedColumns &a) {
        return Many::space(a.rows) + EightSums<complex>::space(a.rows);
    }

    LANES_INLINE void add(std::uint64_t first, std::uint64_t last, LineSums &out) {
        steps_.begin(first);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.advance();
            const double weight = steps_.weight();
            if (weight != 0) add_step(weight);
        }
        sums_.flush();
        sums_.finish(out);
    }

  private:
    LANES_INLINE void add_step(double weight) {
        int lane = 0;
        for (; lane + Many::lanes <= steps_.lanes(); lane += Many::lanes) add_lanes(many_, weight, lane);
        for (; lane < steps_.lanes(); lane += eight_lanes) add_lanes(one_, weight, lane);
    }
    template <class Products> LANES_INLINE void add_lanes(Products &products, double weight, int lane) {
        constexpr int size = Products::size;
        using Number = typename Products::Number;
        using Sums = RowSums<complex, split, false, size>;
        products.each(
            Wide<size>(weight) * load<size>(steps_.low_weight(lane)),
            [&](int i) HWY_ATTR { return Sums::of(steps_, i, lane); },
            [&](int i, const Number &x) HWY_ATTR {
                double *const terms = sums_.terms(i);
                sums_.add_mass(i, to_eight<size>(Products::A::magnitude(x)));
                if constexpr (complex)
                    put_number(Eights::add(get_number<Whole>(terms),
                                           Whole{to_eight<size>(x.re), to_eight<size>(x.im)}),
                               terms);
                else
                    put_number(Eights::add(get_number<Whole>(terms), to_eight<size>(x)), terms);
            });
        if (++additions_ % additions_between_flushes == 0) sums_.flush();
    }

    Steps steps_;
    Many many_;
    One one_;
    EightSums<complex> sums_;
    int additions_ = 0;
};

std::size_t walk_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                        LineSums *out) {
    return by_parts(a, [&]<bool complex, bool split>() {
        return walk_lines<MinorWalk<complex, split>>(a, first, last, space, out);
    });
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
