// States whose magnitudes lie further apart than a double reaches: each number has an exponent of its own.
//
// In a long matrix the states of one row can be products of entries in numbers that grow apart without end,
// as those of a ring do with what crosses its cut. Rows and columns scaled by powers of two do not help: what
// a cycle of entries comes to stays.
#pragma once

#include "lib/frontier/work.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace libperm {

// number * 2^exp2; the magnitude of the number is in [2^-reach, 2^reach], or 0.
template <class N> struct Ranged {
    static constexpr int reach = 200;
    // What lies further below another number is cut off: less than 2^-500 of it.
    static constexpr std::int64_t far = 900;

    N number;
    std::int64_t exp2 = 0;

    static Ranged normalised(const N &number, std::int64_t exp2) {
        const double size = number.magnitude();
        if (size == 0) return {number, 0};
        if (size >= std::ldexp(1.0, -reach) && size <= std::ldexp(1.0, reach)) return {number, exp2};
        const int exponent = std::ilogb(size);
        return {times_power(number, -exponent), exp2 + exponent};
    }

    friend Ranged operator*(const Ranged &x, const Ranged &y) {
        return normalised(x.number * y.number, x.exp2 + y.exp2);
    }
    friend Ranged operator+(const Ranged &x, const Ranged &y) {
        if (x.number.magnitude() == 0) return y;
        if (y.number.magnitude() == 0) return x;
        const Ranged &high = x.exp2 >= y.exp2 ? x : y, &low = x.exp2 >= y.exp2 ? y : x;
        const std::int64_t apart = high.exp2 - low.exp2;
        if (apart == 0) return normalised(x.number + y.number, x.exp2);
        if (apart > far) return high;
        return normalised(high.number + times_power(low.number, -static_cast<int>(apart)), high.exp2);
    }
};

template <class N> struct RangedOperations {
    using Number = Ranged<N>;
    using Factor = Ranged<N>;

    static Number zero() { return {N::number(0), 0}; }
    static Number one() { return {N::number(1), 0}; }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }
};

template <class N> class RangedNumbers : public RangedOperations<N> {
  public:
    using typename RangedOperations<N>::Number, typename RangedOperations<N>::Factor;
    static constexpr bool uses_fma = N::Arithmetic::parts > 1;
    static constexpr bool has_exponents = true;

    explicit RangedNumbers(const FrontierLedger &ledger) : ledger_(ledger) {}

    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const Coefficient &c : ledger_.begin_step(step)) {
            typename N::Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(Factor::normalised(N::coefficient(value, c.magnitude), c.exp2));
        }
        return factors_;
    }
    static Factor times(const Factor &factor, std::int32_t copies) {
        return factor * Factor::normalised(N::number(copies), 0);
    }

    static Extent extent_of(const Number *, std::size_t) { return {1, 1}; }
    void end_step(double additions, double expansions, const Extent &extent) {
        ledger_.end_step(additions, expansions, extent);
    }
    FrontierLedger::Scales begin_join(const RangedNumbers &other, double states, double other_states) {
        return ledger_.begin_join(other.ledger_, states, other_states);
    }
    static bool is_zero(const Number &x) { return x.number.magnitude() == 0; }
    static Number scaled(const Number &x, int) { return x; } // by 2^0
    static Factor factor_of(const Number &x, int) { return x; }

    bool has_underflowed(const Number &) const { return false; }
    EngineResult close(const Number &last) const {
        PackedParts value{};
        std::memcpy(value.data(), &last.number.value, sizeof last.number.value);
        return ledger_.close(value, last.number.magnitude(), last.exp2);
    }

  private:
    FrontierLedger ledger_;
    std::vector<Factor> factors_;
};

} // namespace libperm
