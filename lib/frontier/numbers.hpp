// The numbers of a frontier run: their books, and what the forms are given of them.
#pragma once

#include "lib/base/error.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/state_number.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/results.hpp"
#include "preprocess/frontier_steps.hpp"

#include <cstring>
#include <type_traits>
#include <vector>

namespace libperm {

// An entry as the engine is to use it.
struct Coefficient {
    PackedParts value{};
    double magnitude = 0;
    std::int64_t exp2 = 0; // of both, where the states have exponents
};

class FrontierLedger {
  public:
    // Of a scaled block; it and the entries must outlive the ledger. `exponents`: the states have their own
    // (lib/number/state_number.hpp).
    explicit FrontierLedger(const Block &block, bool exponents = false);
    explicit FrontierLedger(const WideEntries &entries, bool exponents = false);

    // The row's entries, by what keeps the states near 1.
    const std::vector<Coefficient> &begin_step(const FrontierStep &step);

    // `additions`: on the way of any term through this row, at most.
    void end_step(double additions, double expansions, const Extent &extent);

    // Joins the books of another branch: what both lists are scaled by before their states are multiplied.
    // end_step then closes the join as it does a step.
    JoinScales begin_join(const FrontierLedger &other, double states, double other_states);

    // The last state's value and magnitude, both times 2^exp2.
    EngineResult close(const PackedParts &value, double magnitude, std::int64_t exp2 = 0) const;

    // Whether more may be lost by that than by rounding.
    bool has_underflowed(double magnitude) const;

  private:
    int apply_shift(double states);
    int most_exponent() const;
    Coefficient coefficient(const FrontierTerm &t, int scale) const;
    void begin_ranged_step(const FrontierStep &step);

    const Tracked &entry_of(const FrontierTerm &t) const;

    const Block *block_; // of magnitudes, if wide
    const WideEntries *wide_ = nullptr;
    bool exponents_;
    Arithmetic arithmetic_ = Arithmetic::real;
    std::vector<Coefficient> coefficients_;
    std::int64_t exp2_ = 0;   // the true states are the computed ones times 2^exp2_
    std::int32_t shift_ = 0;  // by how much the next row is to be scaled down
    Extent extent_{1, 1};     // of the states
    bool underflows_ = false; // a product of this row may
    double most_copies_ = 1;  // of a column of this row
    double of_entries_ = 0;   // roundings that the entries came with
    double roundings_ = 0;    // on the way of a term, at most
    double underflow_ = 0;    // absolute error that underflow can have made, summed over the states
    bool exact_ = true;       // no operation has rounded so far: all states are multiples of 2^unit_
    std::int64_t unit_ = 0;
};

// What both forms of the frontier are given, and where their numbers come from.
//
// The engines are templates of a Trait: Number (a state's) and Factor (an entry's), begin_step and end_step
// around each row (begin_join, scaled, factor_of before a join), times(factor, copies), multiply(factor,
// number), add, zero, one and extent_of; with(work), around what does these; is_slow, where an operation
// takes longer than to ask whether it is needed.

struct FrontierWork {
    const FrontierProgram &program;
    MemoryBudget &memory;
    int threads;
    BranchesOnDevice *device = nullptr;
    DeviceFrontier *whole = nullptr;
};

inline FrontierWork work_of(const FrontierRun &run) {
    return {run.program, run.memory, run.threads, run.device, run.whole};
}

// Numbers that a bound of their error is known of: NonNegative, Signed, or one of them with an exponent of
// its own (lib/number/state_number.hpp).
template <class N> class BoundedNumbers : public BoundedOperations<N> {
    using Operations = BoundedOperations<N>;
    using Operations::plain, Operations::with_exponent;
    using typename Operations::Plain;
    using Arithmetic = typename Plain::Arithmetic;

  public:
    using Operations::has_exponents;
    using typename Operations::Number, typename Operations::Factor;
    static constexpr bool is_slow = false;

    explicit BoundedNumbers(const FrontierLedger &ledger) : ledger_(ledger) {}
    template <class Work> static void with(const Work &work) {
        if constexpr (Arithmetic::parts > 1)
            with_fma(work);
        else
            work();
    }

    // The factors of the row, one for each of its terms.
    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const Coefficient &c : ledger_.begin_step(step)) {
            typename Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(with_exponent(Plain::coefficient(value, c.magnitude), c.exp2));
        }
        return factors_;
    }

    static Extent extent_of(const Number *numbers, std::size_t count) {
        Extent extent;
        if constexpr (has_exponents)
            extent = {1, 1};
        else
            for (std::size_t k = 0; k < count; ++k) {
                extent.largest = std::max(extent.largest, numbers[k].magnitude());
                const double least = numbers[k].least();
                extent.smallest = std::min(extent.smallest, least == 0 ? extent.smallest : least);
            }
        return extent;
    }
    void end_step(double additions, double expansions, const Extent &extent) {
        ledger_.end_step(additions, expansions, extent);
    }

    // Before states are multiplied by those of another list: what both are scaled by.
    JoinScales begin_join(const BoundedNumbers &other, double states, double other_states) {
        return ledger_.begin_join(other.ledger_, states, other_states);
    }
    static bool is_zero(const Number &x) { return plain(x).magnitude() == 0; }
    static Number scaled(const Number &x, int exp2) {
        if constexpr (has_exponents)
            return x; // by 2^0
        else
            return times_power(x, exp2);
    }
    static Factor factor_of(const Number &x, int exp2) { return scaled(x, exp2); }

    bool has_underflowed(const Number &last) const {
        return ledger_.has_underflowed(plain(last).magnitude());
    }
    EngineResult close(const Number &last) const {
        PackedParts value{};
        std::memcpy(value.data(), &plain(last).value, sizeof plain(last).value);
        return ledger_.close(value, plain(last).magnitude(), Operations::exponent_of(last));
    }

  private:
    FrontierLedger ledger_;
    std::vector<Factor> factors_;
};

// The forms are templates `Frontier` of their Trait: what they compute, for each kind of numbers there is.
template <template <class> class Frontier, class Number, class Entries>
EngineResult compute_bounded(const FrontierRun &run, const Entries &entries) {
    using Trait = BoundedNumbers<Number>;
    const FrontierWork work = work_of(run);
    Counts counts;
    Trait numbers{FrontierLedger(entries, Trait::has_exponents)};
    const typename Trait::Number last = Frontier<Trait>(work, numbers).compute(counts);
    EngineResult result = numbers.close(last);
    result.counts = counts;
    return numbers.has_underflowed(last) ? again_in_range(std::move(result), run) : result;
}

template <template <class> class Frontier> EngineResult compute_real(const FrontierRun &run) {
    using R = number::Real<double>;
    const Block &block = *run.input.block();
    return run.input.states().nonnegative ? compute_bounded<Frontier, NonNegative<R>>(run, block)
                                          : compute_bounded<Frontier, Signed<R>>(run, block);
}

template <template <class> class Frontier> EngineResult compute_wide(const FrontierRun &run) {
    using number::Complex, number::DD, number::Real;
    const WideEntries &entries = *run.input.wide();
    switch (run.input.states().arithmetic) {
    case Arithmetic::complex:
        return compute_bounded<Frontier, Signed<Complex<Real<double>>>>(run, entries);
    case Arithmetic::dd:
        return run.input.states().nonnegative
                   ? compute_bounded<Frontier, NonNegative<DD<double>>>(run, entries)
                   : compute_bounded<Frontier, Signed<DD<double>>>(run, entries);
    case Arithmetic::complex_dd:
        return compute_bounded<Frontier, Signed<Complex<DD<double>>>>(run, entries);
    default:
        throw Error(PERM_INTERNAL, "engine frontier: exact entries in an arithmetic that needs none");
    }
}

template <template <class> class Frontier> EngineResult compute_residues(const FrontierRun &run) {
    const Residues &residues = *run.input.residues();
    const std::size_t matrices = residues.primes.size();
    const std::size_t at_once = run.device || run.whole ? 1 : residues_at_once; // a device has one
    const std::size_t passes = (matrices + at_once - 1) / at_once;
    CurrentCall part(1 / static_cast<double>(passes));
    const FrontierWork work = work_of(run);
    Counts counts;
    ResidueVector all = in_passes(residues, at_once, [&]<class Trait>(Trait &numbers) {
        return Frontier<Trait>(work, numbers).compute(counts);
    });
    return {std::move(all), counts};
}

// Of all but blocks.
template <template <class> class Frontier> EngineResult compute_other(const FrontierRun &run) {
    return run.input.wide() ? compute_wide<Frontier>(run) : compute_residues<Frontier>(run);
}
template <template <class> class Frontier> EngineResult compute_any(const FrontierRun &run) {
    return run.input.block() ? compute_real<Frontier>(run) : compute_other<Frontier>(run);
}

// What is ranged is rare: a bound beside each number serves nonnegative ones too, and double-doubles are
// complex ones.
template <template <class> class Frontier> EngineResult compute_ranged(const FrontierRun &run) {
    using number::Complex, number::DD, number::Real;
    if (const Block *block = run.input.block())
        return compute_bounded<Frontier, Ranged<Signed<Real<double>>>>(run, *block);
    const WideEntries &entries = *run.input.wide();
    if (entries.arithmetic == Arithmetic::complex)
        return compute_bounded<Frontier, Ranged<Signed<Complex<Real<double>>>>>(run, entries);
    return compute_bounded<Frontier, Ranged<Signed<Complex<DD<double>>>>>(run, in_complex_dd(entries));
}

} // namespace libperm
