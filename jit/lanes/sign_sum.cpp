#include "jit/lanes/sign_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/sign_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr int sign_lanes = 8, of_eight = sign_lanes / static_cast<int>(hn::MaxLanes(Tag()));
using EightSigns = Wide<of_eight>;

// Those of a step, for each lane: the sign of a term is the product of its lane's and of those of the vectors
// and halves that it lies in.
template <int size> LANES_INLINE EightSigns with_signs(Wide<size> a) {
    if constexpr (size == of_eight)
        return a;
    else
        return with_signs<size / 2>(a.low - a.high);
}
template <int size> LANES_INLINE EightSigns without_signs(Wide<size> a) {
    if constexpr (size == of_eight)
        return a;
    else
        return without_signs<size / 2>(a.low + a.high);
}

// A sum of the lanes with their signs, by halves.
struct LaneSum {
    HWY_ALIGN double sum[sign_lanes], error[sign_lanes];

    LANES_INLINE LaneSum(EightSigns s, EightSigns e) {
        store(s, sum);
        store(e, error);
        for (int half = sign_lanes / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) {
                const Twofold<double> s2 = two_sum(sum[k], -sum[k + half]);
                sum[k] = s2.hi;
                error[k] = (error[k] - error[k + half]) + s2.lo;
            }
    }
};

template <bool complex, bool split, int vectors> class SignWalk {
    static constexpr int size = vectors * of_eight, signs = vectors * sign_lanes;
    static constexpr int low_columns = 3 + (vectors > 2 ? 2 : vectors > 1 ? 1 : 0);
    static constexpr int parts = (complex ? 2 : 1) * (split ? 2 : 1);
    using D = Wide<size>;
    using A = std::conditional_t<complex, Complex<Real<D>>, Real<D>>;
    using Eights = std::conditional_t<complex, Complex<Real<EightSigns>>, Real<EightSigns>>;

  public:
    LANES_INLINE explicit SignWalk(const SignColumns &a) : n_(a.n), stride_(a.stride) {
        a.list(part_);
        for (int part = 0; part < parts; ++part)
            for (int i = 0; i < n_; ++i) tabulate(part, i);
    }

    LANES_INLINE TermSum sum(std::uint64_t first, std::uint64_t last) {
        begin(first ^ first >> 1);
        auto sum = Eights::zero_sum();
        EightSigns mass(0.0);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) change(step);
            auto product = row_sum(0);
            for (int i = 1; i < n_; ++i) product = A::multiply(product, row_sum(i));
            mass = mass + without_signs(A::magnitude(product));
            const auto terms = signed_terms(product);
            sum = Eights::sum(sum, step & 1 ? Eights::negate(terms) : terms);
        }
        return total(sum, mass);
    }

  private:
    static LANES_INLINE auto signed_terms(const typename A::Number &product) {
        if constexpr (complex)
            return typename Eights::Number{with_signs(product.re), with_signs(product.im)};
        else
            return with_signs(product);
    }

    double *table(int part, int i) { return table_ + (i * parts + part) * signs; }
    double entry(int part, int i, int j) const { return part_[part][j * stride_ + i]; }

    // What columns 1 .. low_columns add to the row's sum: column j is taken off where bit j - 1 is set.
    LANES_INLINE void tabulate(int part, int i) {
        HWY_ALIGN static constexpr double sign[3][sign_lanes] = {
            {1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, 1, -1, -1}, {1, 1, 1, 1, -1, -1, -1, -1}};
        double *const to = table(part, i);
        EightSigns eight = EightSigns(entry(part, i, 1)) * load<of_eight>(sign[0]);
        for (int j = 1; j < 3; ++j)
            eight = fma(EightSigns(entry(part, i, j + 1)), load<of_eight>(sign[j]), eight);
        if constexpr (vectors == 1) {
            store(eight, to);
        } else if constexpr (vectors == 2) {
            const EightSigns a(entry(part, i, 4));
            store(eight + a, to);
            store(eight - a, to + sign_lanes);
        } else {
            const EightSigns a(entry(part, i, 4)), b(entry(part, i, 5));
            store((eight + a) + b, to);
            store((eight - a) + b, to + sign_lanes);
            store((eight + a) - b, to + 2 * sign_lanes);
            store((eight - a) - b, to + 3 * sign_lanes);
        }
    }

    // The other columns' sums, those that `gray` names taken off.
    LANES_INLINE void begin(std::uint64_t gray) {
        for (int part = 0; part < parts; ++part) {
            std::copy_n(part_[part], stride_, base_[part]);
            for (int j = low_columns + 1; j < n_; ++j)
                add_column(part, j, gray >> (j - low_columns - 1) & 1 ? -1 : 1);
        }
    }
    LANES_INLINE void change(std::uint64_t step) {
        const int bit = std::countr_zero(step);
        const double twice = (step ^ step >> 1) >> bit & 1 ? -2 : 2;
        for (int part = 0; part < parts; ++part) add_column(part, low_columns + 1 + bit, twice);
    }
    LANES_INLINE void add_column(int part, int j, double times) {
        const double *const column = part_[part] + j * stride_;
        for (int i = 0; i < stride_; ++i) base_[part][i] += times * column[i];
    }

    LANES_INLINE D sum_of_part(int part, int i) { return D(base_[part][i]) + load<size>(table(part, i)); }
    LANES_INLINE D sum_of_grids(int part, int i) {
        if constexpr (split)
            return sum_of_part(part, i) + sum_of_part(part + 1, i);
        else
            return sum_of_part(part, i);
    }
    LANES_INLINE typename A::Number row_sum(int i) {
        if constexpr (complex)
            return {sum_of_grids(0, i), sum_of_grids(parts / 2, i)};
        else
            return sum_of_grids(0, i);
    }

    static LANES_INLINE TermSum total(const typename Eights::Sum &sum, EightSigns mass) {
        TermSum all;
        if constexpr (complex) {
            const LaneSum re(sum.re.sum, sum.re.error), im(sum.im.sum, sum.im.error);
            all = {re.sum[0], re.error[0], im.sum[0], im.error[0]};
        } else {
            const LaneSum re(sum.sum, sum.error);
            all = {re.sum[0], re.error[0]};
        }
        HWY_ALIGN double masses[sign_lanes];
        store(mass, masses);
        for (const double m : masses) all.mass += m;
        return all;
    }

    const int n_, stride_;
    const double *part_[parts];
    HWY_ALIGN double base_[parts][most_sign_order];
    HWY_ALIGN double table_[most_sign_order * parts * signs];
};

template <bool complex, bool split, int vectors>
TermSum walk(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return SignWalk<complex, split, vectors>(a).sum(first, last);
}

template <bool complex, bool split>
TermSum walk_by_order(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    switch (vectors_of_step(a)) {
    case 1:
        return walk<complex, split, 1>(a, first, last);
    case 2:
        return walk<complex, split, 2>(a, first, last);
    default:
        return walk < complex, split, complex ? 2 : 4 > (a, first, last);
    }
}

TermSum walk_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    if (a.is_complex())
        return a.is_split() ? walk_by_order<true, true>(a, first, last)
                            : walk_by_order<true, false>(a, first, last);
    return a.is_split() ? walk_by_order<false, true>(a, first, last)
                        : walk_by_order<false, false>(a, first, last);
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_signs);

} // namespace

int vectors_of_step(const SignColumns &a) { return std::min(1 << (a.n - 4), a.is_complex() ? 2 : 4); }

std::uint64_t sign_steps(const SignColumns &a) {
    constexpr int signs = 8; // of a vector
    return (std::uint64_t{1} << (a.n - 1)) / static_cast<std::uint64_t>(signs * vectors_of_step(a));
}

TermSum sum_over_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return HWY_DYNAMIC_DISPATCH(walk_signs)(a, first, last);
}

} // namespace libperm
#endif
