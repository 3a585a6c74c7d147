// The frontier with numbers that have exponents of their own (lib/number/ranged.hpp), accounted for by its
// ledger.
#pragma once

#include "lib/frontier/work.hpp"
#include "lib/number/ranged.hpp"

#include <cstring>
#include <vector>

namespace libperm {

template <class N> class RangedNumbers : public RangedOperations<N> {
  public:
    using typename RangedOperations<N>::Number, typename RangedOperations<N>::Factor;
    static constexpr bool is_slow = false;
    static constexpr bool has_exponents = true;

    explicit RangedNumbers(const FrontierLedger &ledger) : ledger_(ledger) {}
    template <class Work> static void with(const Work &work) { with_numbers<N>(work); }

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
    JoinScales begin_join(const RangedNumbers &other, double states, double other_states) {
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

// What is ranged is rare: a bound beside each number serves nonnegative ones too, and double-doubles are
// complex ones.
template <template <class> class Frontier> EngineResult compute_ranged(const FrontierRun &run) {
    using number::Complex, number::DD, number::Real;
    if (const Block *block = run.input.block())
        return compute_bounded<Frontier, RangedNumbers, Signed<Real<double>>>(run, *block);
    const WideEntries &entries = *run.input.wide();
    if (entries.arithmetic == Arithmetic::complex)
        return compute_bounded<Frontier, RangedNumbers, Signed<Complex<Real<double>>>>(run, entries);
    return compute_bounded<Frontier, RangedNumbers, Signed<Complex<DD<double>>>>(run, in_complex_dd(entries));
}

} // namespace libperm
