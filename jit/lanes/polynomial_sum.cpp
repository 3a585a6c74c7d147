#include "jit/lanes/polynomial_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/polynomial_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/count_steps-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

#ifndef LIBPERM_POLYNOMIAL_ADDITIONS
#define LIBPERM_POLYNOMIAL_ADDITIONS
namespace libperm {
constexpr int polynomials_between_flushes = 16;
} // namespace libperm
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

template <bool complex, bool split, bool dd> class PolynomialWalk {
    using Steps = CountSteps<complex, split>;
    using Sums = RowSums<complex, split, dd, vectors_of_eight>;
    using Part = typename Sums::Part;
    using A = typename Sums::A;
    using Number = typename A::Number;
    using M = Real<Eight>; // of magnitudes
    static constexpr int term_block = A::parts * eight_lanes;

  public:
    LANES_INLINE PolynomialWalk(const LinearColumns &a, double *space)
        : a_(a),
          steps_(a.columns),
          term_(space),
          magnitude_(term_ + (a.degree + 1) * term_block),
          sums_(a.degree + 1, magnitude_ + (a.degree + 1) * eight_lanes) {}
    static std::size_t space(const LinearColumns &a) {
        return (static_cast<std::size_t>(a.degree) + 1) * (term_block + eight_lanes) +
               EightSums<complex>::space(a.degree + 1);
    }

    LANES_INLINE void add(std::uint64_t first, std::uint64_t last, LineSums &out) {
        steps_.begin(first);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.advance();
            const double weight = steps_.weight();
            for (int lane = 0; weight != 0 && lane < steps_.lanes(); lane += eight_lanes)
                add_lanes(weight, lane);
        }
        if (!dd) sums_.flush();
        sums_.finish(out);
    }

  private:
    LANES_INLINE Number row_sum(int i, int lane) const { return Sums::of(steps_, i, lane); }

    // By a power of two.
    static LANES_INLINE Eight scaled(Eight x, Eight by) { return x * by; }
    static LANES_INLINE Twofold<Eight> scaled(Twofold<Eight> x, Eight by) { return {x.hi * by, x.lo * by}; }
    template <class P> static LANES_INLINE ComplexOf<P> scaled(ComplexOf<P> x, Eight by) {
        return {scaled(x.re, by), scaled(x.im, by)};
    }

    LANES_INLINE Number term(int k) { return read_number<Number>(term_ + k * term_block); }
    LANES_INLINE Eight magnitude(int k) { return load<vectors_of_eight>(magnitude_ + k * eight_lanes); }
    LANES_INLINE void put(int k, const Number &term, Eight magnitude) {
        write_number(term, term_ + k * term_block);
        store(magnitude, magnitude_ + k * eight_lanes);
    }

    LANES_INLINE void add_lanes(double weight, int lane) {
        const Eight w = Eight(weight) * load<vectors_of_eight>(steps_.low_weight(lane));
        put(0, A::number(w), fabs(w));
        int degree = 0; // of the product so far
        Factor waiting{};
        bool is_waiting = false; // for another: two at once take half of the way to memory
        for (int i = 0; i < a_.rows; ++i) {
            const Number y = row_sum(i, lane);
            if (a_.scale[i] == 0) {
                for (int copy = 0; copy < a_.columns.row_count[i]; ++copy)
                    multiply(degree, y, A::magnitude(y));
                continue;
            }
            const Number sum = row_sum(a_.rows + i, lane),
                         z = a_.scale[i] == 1 ? sum : scaled(sum, Eight(a_.scale[i]));
            const Factor factor{y, z, A::magnitude(y), A::magnitude(z)};
            for (int copy = 0; copy < a_.columns.row_count[i]; ++copy) {
                if (is_waiting)
                    degree = multiply(degree, waiting, factor);
                else
                    waiting = factor;
                is_waiting = !is_waiting;
            }
        }
        if (is_waiting) degree = multiply(degree, waiting);
        for (int k = 0; k <= degree; ++k) {
            sums_.add_mass(k, magnitude(k));
            if constexpr (complex) {
                add_part(term(k).re, k, 0);
                add_part(term(k).im, k, eight_lanes);
            } else {
                add_part(term(k), k, 0);
            }
        }
        if (!dd && ++additions_ % polynomials_between_flushes == 0) sums_.flush();
    }

    // y + z x, and sizes of both.
    struct Factor {
        Number y, z;
        Eight size_y, size_z;
    };

    // By one factor, or two; of the product's powers those up to the degree.
    LANES_INLINE void multiply(int degree, const Number &y, Eight size_y) {
        for (int k = 0; k <= degree; ++k) put(k, A::multiply(term(k), y), magnitude(k) * size_y);
    }
    LANES_INLINE int multiply(int degree, const Factor &f) {
        const bool grows = degree < a_.degree;
        if (grows) put(degree + 1, A::multiply(term(degree), f.z), magnitude(degree) * f.size_z);
        for (int k = degree; k > 0; --k)
            put(k, A::madd(term(k - 1), f.z, A::multiply(term(k), f.y)),
                M::madd(magnitude(k - 1), f.size_z, magnitude(k) * f.size_y));
        put(0, A::multiply(term(0), f.y), magnitude(0) * f.size_y);
        return grows ? degree + 1 : degree;
    }
    LANES_INLINE int multiply(int degree, const Factor &f, const Factor &g) {
        const Number a = A::multiply(f.y, g.y), b = A::madd(f.z, g.y, A::multiply(f.y, g.z)),
                     c = A::multiply(f.z, g.z);
        const Eight size_a = f.size_y * g.size_y, size_c = f.size_z * g.size_z,
                    size_b = M::madd(f.size_z, g.size_y, f.size_y * g.size_z);
        const int high = std::min(degree + 2, a_.degree);
        for (int k = degree + 1; k <= high; ++k) put(k, A::number(Eight(0.0)), Eight(0.0));
        Number here = term(high), below = term(std::max(high - 1, 0));
        Eight size_here = magnitude(high), size_below = magnitude(std::max(high - 1, 0));
        for (int k = high; k > 1; --k) {
            const Number next = term(k - 2);
            const Eight size_next = magnitude(k - 2);
            put(k, A::madd(next, c, A::madd(below, b, A::multiply(here, a))),
                M::madd(size_next, size_c, M::madd(size_below, size_b, size_here * size_a)));
            here = below, below = next;
            size_here = size_below, size_below = size_next;
        }
        if (high > 0)
            put(1, A::madd(below, b, A::multiply(here, a)), M::madd(size_below, size_b, size_here * size_a));
        put(0, A::multiply(term(0), a), magnitude(0) * size_a);
        return high;
    }

    // To the sum of x^k: of doubles some at a time, between flushes.
    LANES_INLINE void add_part(const typename Part::Number &term, int k, int part) {
        if constexpr (dd) {
            double *const sums = sums_.sums(k) + part, *const rests = sums_.rests(k) + part;
            const auto sum =
                DD<Eight>::add({load<vectors_of_eight>(sums), load<vectors_of_eight>(rests)}, term);
            store(sum.hi, sums);
            store(sum.lo, rests);
        } else {
            double *const terms = sums_.terms(k) + part;
            store(load<vectors_of_eight>(terms) + term, terms);
        }
    }

    const LinearColumns &a_;
    Steps steps_;
    double *const term_, *const magnitude_;
    EightSums<complex> sums_;
    int additions_ = 0;
};

std::size_t walk_polynomials(const LinearColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                             LineSums *out) {
    return by_parts(a.columns, [&]<bool complex, bool split>() {
        return a.dd ? walk_lines<PolynomialWalk<complex, split, true>>(a, first, last, space, out)
                    : walk_lines<PolynomialWalk<complex, split, false>>(a, first, last, space, out);
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_polynomials);

} // namespace

int polynomial_additions() { return polynomials_between_flushes + 2; }

std::size_t polynomial_space(const LinearColumns &a) {
    return HWY_DYNAMIC_DISPATCH(walk_polynomials)(a, 0, 0, nullptr, nullptr);
}

void add_polynomials(const LinearColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                     LineSums &sums) {
    HWY_DYNAMIC_DISPATCH(walk_polynomials)(a, first, last, space, &sums);
}

} // namespace libperm
#endif
