#include "jit/lanes/sign_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/sign_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/eights-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

// Those of a step, for each lane: the sign of a term is the product of its lane's and of those of the vectors
// and halves that it lies in.
template <int size> LANES_INLINE Eight with_signs(Wide<size> a) {
    if constexpr (size == vectors_of_eight)
        return a;
    else
        return with_signs<size / 2>(a.low - a.high);
}

// A sum of the lanes with their signs, by halves.
struct LaneSum {
    HWY_ALIGN double sum[eight_lanes], error[eight_lanes];

    LANES_INLINE LaneSum(Eight s, Eight e) {
        store(s, sum);
        store(e, error);
        for (int half = eight_lanes / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) {
                const Twofold<double> s2 = two_sum(sum[k], -sum[k + half]);
                sum[k] = s2.hi;
                error[k] = (error[k] - error[k + half]) + s2.lo;
            }
    }
};

template <bool complex, bool split, int vectors> class SignWalk {
    static constexpr int size = vectors * vectors_of_eight, signs = vectors * eight_lanes;
    static constexpr int low_columns = 3 + (vectors > 2 ? 2 : vectors > 1 ? 1 : 0);
    using Sums = RowSums<complex, split, false, size>;
    using A = typename Sums::A;
    static constexpr int parts = Sums::parts;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;

  public:
    LANES_INLINE explicit SignWalk(const SignColumns &a) : n_(a.n), stride_(a.stride) {
        a.list(part_);
        for (int part = 0; part < parts; ++part)
            for (int i = 0; i < n_; ++i) tabulate(part, i);
    }

    LANES_INLINE TermSum sum(std::uint64_t first, std::uint64_t last) {
        begin(first ^ first >> 1);
        auto sum = Eights::zero_sum();
        Eight mass(0.0);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) change(step);
            auto product = Sums::of(*this, 0);
            for (int i = 1; i < n_; ++i) product = A::multiply(product, Sums::of(*this, i));
            mass = mass + to_eight<size>(A::magnitude(product));
            const auto terms = signed_terms(product);
            sum = Eights::sum(sum, step & 1 ? Eights::negate(terms) : terms);
        }
        return total(sum, mass);
    }

    double base(int part, int i) const { return base_[part][i]; }
    const double *low_sum(int part, int i, int lane) const {
        return table_ + (i * parts + part) * signs + lane;
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
        HWY_ALIGN static constexpr double sign[3][eight_lanes] = {
            {1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, 1, -1, -1}, {1, 1, 1, 1, -1, -1, -1, -1}};
        double *const to = table(part, i);
        Eight eight = Eight(entry(part, i, 1)) * load<vectors_of_eight>(sign[0]);
        for (int j = 1; j < 3; ++j)
            eight = fma(Eight(entry(part, i, j + 1)), load<vectors_of_eight>(sign[j]), eight);
        if constexpr (vectors == 1) {
            store(eight, to);
        } else if constexpr (vectors == 2) {
            const Eight a(entry(part, i, 4));
            store(eight + a, to);
            store(eight - a, to + eight_lanes);
        } else {
            const Eight a(entry(part, i, 4)), b(entry(part, i, 5));
            store((eight + a) + b, to);
            store((eight - a) + b, to + eight_lanes);
            store((eight + a) - b, to + 2 * eight_lanes);
            store((eight - a) - b, to + 3 * eight_lanes);
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

    static LANES_INLINE TermSum total(const typename Eights::Sum &sum, Eight mass) {
        TermSum all;
        if constexpr (complex) {
            const LaneSum re(sum.re.sum, sum.re.error), im(sum.im.sum, sum.im.error);
            all = {re.sum[0], re.error[0], im.sum[0], im.error[0]};
        } else {
            const LaneSum re(sum.sum, sum.error);
            all = {re.sum[0], re.error[0]};
        }
        HWY_ALIGN double masses[eight_lanes];
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

TermSum walk_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return by_parts(a, [&]<bool complex, bool split>() {
        switch (vectors_of_step(a)) {
        case 1:
            return walk<complex, split, 1>(a, first, last);
        case 2:
            return walk<complex, split, 2>(a, first, last);
        default:
            return walk < complex, split, complex ? 2 : 4 > (a, first, last);
        }
    });
}

using Four = hn::CappedTag<double, 4>;

bool raise(const double *columns, int n, int stride, double *largest) {
    const Four d;
    const auto infinite = hn::Inf(d);
    auto finite = hn::Eq(infinite, infinite);
    for (int i = 0; i < stride; i += static_cast<int>(hn::Lanes(d))) {
        auto most = hn::Load(d, largest + i);
        for (int j = 0; j < n; ++j) {
            const auto x = hn::Abs(hn::Load(d, columns + j * stride + i));
            most = hn::Max(most, x);
            finite = hn::And(finite, hn::Lt(x, infinite));
        }
        hn::Store(most, d, largest + i);
    }
    return hn::AllTrue(d, finite);
}

// `grids`: constants that leave multiples of a grid's last bit where they are added and subtracted again.
SignCut cut(const double *columns, int n, int stride, const double *scale, std::pair<double, double> grids,
            double *high, double *low) {
    const Four d;
    const auto zero = hn::Zero(d), to_high = hn::Set(d, grids.first), to_low = hn::Set(d, grids.second);
    auto splits = hn::Ne(zero, zero), moves = splits;
    for (int i = 0; i < stride; i += static_cast<int>(hn::Lanes(d))) {
        const auto by = hn::Load(d, scale + i);
        for (int j = 0; j < n; ++j) {
            const int k = j * stride + i;
            const auto given = hn::Load(d, columns + k), x = hn::Mul(given, by);
            const auto h = hn::Sub(hn::Add(x, to_high), to_high), rest = hn::Sub(x, h);
            const auto l = hn::Sub(hn::Add(rest, to_low), to_low);
            hn::Store(h, d, high + k);
            hn::Store(l, d, low + k);
            splits = hn::Or(splits, hn::Ne(l, zero));
            moves = hn::Or(moves, hn::Ne(rest, l));
            moves = hn::Or(moves, hn::And(hn::Eq(x, zero), hn::Ne(given, zero))); // below all doubles
        }
    }
    return {!hn::AllFalse(d, splits), !hn::AllFalse(d, moves)};
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_signs);
HWY_EXPORT(raise);
HWY_EXPORT(cut);

} // namespace

int vectors_of_step(const SignColumns &a) { return std::min(1 << (a.n - 4), a.is_complex() ? 2 : 4); }

std::uint64_t sign_steps(const SignColumns &a) {
    constexpr int signs = 8; // of a vector
    return (std::uint64_t{1} << (a.n - 1)) / static_cast<std::uint64_t>(signs * vectors_of_step(a));
}

TermSum sum_over_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return HWY_DYNAMIC_DISPATCH(walk_signs)(a, first, last);
}

bool raise_to_largest(const GridColumns &columns, int n, double *largest) {
    const auto raise_part = [&](const double *part) {
        return HWY_DYNAMIC_DISPATCH(raise)(part, n, columns.stride, largest);
    };
    return raise_part(columns.re) && (!columns.im || raise_part(columns.im));
}

int spread_of(int n) { return std::max(2, static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)))); }

SignCut cut_to_grids(const GridColumns &columns, int n, const double *scale, int spread,
                     const GridParts &to) {
    // Doubles from 1/2 to 1 are multiples of 2^-53, and so is what is left of this and any below 1/4.
    const std::pair<double, double> grids{0.75, std::ldexp(1.5, spread - 55)};
    const auto cut_part = [&](const double *part, double *high, double *low) {
        return HWY_DYNAMIC_DISPATCH(cut)(part, n, columns.stride, scale, grids, high, low);
    };
    const SignCut re = cut_part(columns.re, to.re, to.re_low);
    if (!columns.im) return re;
    const SignCut im = cut_part(columns.im, to.im, to.im_low);
    return {re.splits || im.splits, re.moves || im.moves};
}

int unit_of_row(const GridColumns &columns, int n, int i) {
    std::uint64_t bits = 0;
    for (int j = 0; j < n; ++j)
        for (const double *part : {columns.re, columns.im})
            if (part)
                bits |= static_cast<std::uint64_t>(
                    static_cast<std::int64_t>(part[j * columns.stride + i] * 0x1p53));
    return std::countr_zero(bits) - 53;
}

} // namespace libperm
#endif
