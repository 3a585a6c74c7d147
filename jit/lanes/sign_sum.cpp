#include "jit/lanes/sign_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/sign_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/sign_steps-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

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
    using Steps = SignSteps<complex, split, vectors>;
    using A = typename Steps::A;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;

  public:
    LANES_INLINE explicit SignWalk(const SignColumns &a) : n_(a.n), steps_(a, a.n, a.n, table_, base_) {}

    LANES_INLINE TermSum sum(std::uint64_t first, std::uint64_t last) {
        steps_.begin(first ^ first >> 1);
        auto sum = Eights::zero_sum();
        Eight mass(0.0);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.change(step);
            auto product = steps_.row_sum(0);
            for (int i = 1; i < n_; ++i) product = A::multiply(product, steps_.row_sum(i));
            mass = mass + to_eight(A::magnitude(product));
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

    const int n_;
    HWY_ALIGN double base_[Steps::parts * most_sign_order];
    HWY_ALIGN double table_[most_sign_order * Steps::parts * Steps::lanes];
    Steps steps_;
};

template <class Walk> TermSum walk(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return Walk(a).sum(first, last);
}

TermSum walk_signs(const SignColumns &a, std::uint64_t first, std::uint64_t last) {
    return by_parts(a, [&]<bool complex, bool split>() {
        switch (vectors_of_step(a)) {
        case 1:
            return walk<SignWalk<complex, split, 1>>(a, first, last);
        case 2:
            return walk<SignWalk<complex, split, 2>>(a, first, last);
        default:
            return walk<SignWalk<complex, split, complex ? 2 : 4>>(a, first, last);
        }
    });
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
