// States in MPFR's numbers, of any exponents.
#pragma once

#include "lib/number/ball.hpp"
#include "lib/number/mpfr_entries.hpp"
#include "lib/number/mpfr_number.hpp"
#include "lib/number/mpfr_state.hpp"
#include "lib/number/state_number.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace libperm {

template <int Limbs> class MpfrNumbers {
  public:
    using Number = MpfrState<Limbs>;
    using Factor = Number;
    static constexpr bool is_slow = true;

    explicit MpfrNumbers(const MpfrEntries &entries)
        : block_(&entries.block), bits_(entries.bits), parts_(is_complex(entries.block) ? 2 : 1) {}

    // Exponents go as far as they can.
    template <class Work> static void with(const Work &work) {
        const WholeExponentRange range;
        work();
    }

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        with([&] {
            for (const FrontierTerm &t : step.terms)
                factors_.push_back(t.entry < 0 ? one()
                                               : rounded(block_->values[static_cast<std::size_t>(t.entry)]));
        });
        return factors_;
    }
    Factor times(const Factor &factor, std::int32_t copies) const {
        Factor product;
        with([&] { product = multiply(factor, rounded({copies, 0})); });
        return product;
    }

    static Number zero() { return {}; }
    Number one() const { return rounded({1, 0}); }
    static bool is_zero(const Number &x) { return x.size.is_zero(); }

    // Each part rounds once, so |x y - fl(x y)| <= u |x y| in |re| + |im| too, and |x y| <= |x| |y|.
    Number multiply(const Factor &x, const Number &y) const {
        Number to;
        if (is_zero(x) || is_zero(y)) return to;
        bool rounds = false;
        if (parts_ == 1) {
            rounds = set(to, 0, [&](mpfr_ptr part) {
                return mpfr_mul(part, View(*this, x, 0), View(*this, y, 0), MPFR_RNDN);
            });
        } else {
            const View a(*this, x, 0), b(*this, x, 1), c(*this, y, 0), d(*this, y, 1);
            rounds = set(to, 0, [&](mpfr_ptr part) { return mpfr_fmms(part, a, c, b, d, MPFR_RNDN); });
            rounds |= set(to, 1, [&](mpfr_ptr part) { return mpfr_fmma(part, a, d, b, c, MPFR_RNDN); });
        }
        to.size = x.size * y.size;
        to.roundings = x.roundings + y.roundings + rounds;
        return to;
    }
    Number add(const Number &x, const Number &y) const {
        if (is_zero(x)) return y;
        if (is_zero(y)) return x;
        Number to;
        bool rounds = false;
        for (int k = 0; k < parts_; ++k)
            rounds |= set(to, k, [&](mpfr_ptr part) {
                return mpfr_add(part, View(*this, x, k), View(*this, y, k), MPFR_RNDN);
            });
        to.size = x.size + y.size;
        to.roundings = std::max(x.roundings, y.roundings) + rounds;
        return to;
    }

    // The numbers keep their own books.
    static Extent extent_of(const Number *, std::size_t) { return {}; }
    void end_step(double, double, const Extent &) {}
    JoinScales begin_join(const MpfrNumbers &, double, double) { return {0, 0}; }
    static Number scaled(const Number &x, int) { return x; } // by 2^0
    static Factor factor_of(const Number &x, int) { return x; }

    WideBall close(const Number &last) const {
        WideBall ball;
        with([&] {
            ball.value.re = exactly(last, 0);
            if (parts_ == 2) ball.value.im = exactly(last, 1);
        });
        ball.error = error_of(last);
        return ball;
    }

  private:
    // A part as MPFR knows it, in the state's own limbs.
    class View {
      public:
        View(const MpfrNumbers &numbers, const Number &x, int part) {
            const int sign = x.sign[static_cast<std::size_t>(part)];
            mpfr_custom_init_set(x_, sign == 0 ? MPFR_ZERO_KIND : sign * MPFR_REGULAR_KIND,
                                 x.exp2[static_cast<std::size_t>(part)], numbers.bits_,
                                 const_cast<mp_limb_t *>(x.limbs.data() + part * (Limbs / 2)));
        }
        operator mpfr_ptr() { return x_; }
        operator mpfr_srcptr() const { return x_; }

      private:
        mpfr_t x_;
    };

    // Whether `operation`, which returns how it rounded as MPFR's do, has.
    template <class Operation> bool set(Number &to, int part, const Operation &operation) const {
        View x(*this, to, part);
        const bool rounds = operation(static_cast<mpfr_ptr>(x)) != 0;
        const auto k = static_cast<std::size_t>(part);
        to.sign[k] = static_cast<std::int16_t>(mpfr_sgn(x));
        if (to.sign[k] != 0) to.exp2[k] = mpfr_get_exp(x);
        return rounds;
    }

    Number rounded(const Gaussian &x) const {
        Number to;
        bool rounds = false;
        for (int k = 0; k < parts_; ++k) {
            const mpq_class &part = k == 0 ? x.re : x.im;
            rounds |= set(to, k, [&](mpfr_ptr p) { return mpfr_set_q(p, part.get_mpq_t(), MPFR_RNDN); });
            const Scaled size = size_of(Gaussian{part, 0});
            to.size = to.size + Radius(size.mantissa, size.exp2);
        }
        to.roundings = rounds;
        return to;
    }

    mpq_class exactly(const Number &x, int part) const {
        mpq_class q;
        mpfr_get_q(q.get_mpq_t(), View(*this, x, part));
        return q;
    }

    // (1 + u)^k - 1 <= k u (1 + 2 k u) where k u <= 1/4.
    Scaled error_of(const Number &x) const {
        if (x.roundings == 0) return {};
        const Radius share(static_cast<double>(x.roundings), -std::int64_t{bits_});
        const double of_one = share.over(0); // 0 where it is tiny
        if (of_one > 0.25) return {HUGE_VAL, 0};
        const Radius error = share * Radius(1 + 2 * of_one, 0) * x.size;
        return {error.mantissa(), error.exp2()};
    }

    const ExactBlock *block_;
    int bits_, parts_;
    std::vector<Factor> factors_;
};

} // namespace libperm
