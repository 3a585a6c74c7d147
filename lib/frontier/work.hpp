// What both forms of the frontier are given, and where their numbers come from.
//
// The engines are templates of a Trait: Number (a state's) and Factor (an entry's), begin_step and end_step
// around each row (begin_join, scaled, factor_of before a join), times(factor, copies), multiply(factor,
// number), add, zero, one and extent_of; with(work), around what does these; is_slow, where an operation
// takes longer than to ask whether it is needed.
#pragma once

#include "lib/base/error.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/ledger.hpp"
#include "lib/number/residue_numbers.hpp"
#include "lib/number/with_fma.hpp"

#include <cstring>

namespace libperm {

struct FrontierWork {
    const FrontierProgram &program;
    RunControl &control;
    MemoryBudget &memory;
    int threads;
    BranchesOnDevice *device = nullptr;
};

inline FrontierWork work_of(const FrontierRun &run) {
    return {run.program, run.control, run.memory, run.threads, run.device};
}

template <class N, class Work> void with_numbers(const Work &work) {
    if constexpr (N::Arithmetic::parts > 1)
        with_fma(work);
    else
        work();
}

// Numbers that a bound of their error is known of: NonNegative or Signed.
template <class N> class BoundedNumbers {
  public:
    using Number = N;
    using Factor = N;
    static constexpr bool is_slow = false;
    static constexpr bool has_exponents = false; // beside those of its doubles

    explicit BoundedNumbers(const FrontierLedger &ledger) : ledger_(ledger) {}
    template <class Work> static void with(const Work &work) { with_numbers<N>(work); }

    // The factors of the row, one for each of its terms.
    const std::vector<Factor> &begin_step(const FrontierStep &step) {
        factors_.clear();
        for (const Coefficient &c : ledger_.begin_step(step)) {
            typename N::Arithmetic::Number value;
            std::memcpy(&value, c.value.data(), sizeof value);
            factors_.push_back(N::coefficient(value, c.magnitude));
        }
        return factors_;
    }
    static Factor times(const Factor &factor, std::int32_t copies) { return factor * N::number(copies); }

    static Number zero() { return N::number(0); }
    static Number one() { return N::number(1); }
    static Number add(const Number &x, const Number &y) { return x + y; }
    static Number multiply(const Factor &factor, const Number &x) { return factor * x; }

    static Extent extent_of(const Number *numbers, std::size_t count) {
        Extent extent;
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
    static bool is_zero(const Number &x) { return x.magnitude() == 0; }
    static Number scaled(const Number &x, int exp2) { return times_power(x, exp2); }
    static Factor factor_of(const Number &x, int exp2) { return times_power(x, exp2); }

    bool has_underflowed(const Number &last) const { return ledger_.has_underflowed(last.magnitude()); }
    EngineResult close(const Number &last) const {
        PackedParts value{};
        std::memcpy(value.data(), &last.value, sizeof last.value);
        return ledger_.close(value, last.magnitude());
    }

  private:
    FrontierLedger ledger_;
    std::vector<Factor> factors_;
};

// The forms are templates `Frontier` of their Trait: what they compute, for each kind of numbers there is, in
// `Numbers` of that kind.
template <template <class> class Frontier, template <class> class Numbers, class Number, class Entries>
EngineResult compute_bounded(const FrontierRun &run, const Entries &entries) {
    using Trait = Numbers<Number>;
    const FrontierWork work = work_of(run);
    Counts counts;
    Trait numbers{FrontierLedger(entries, Trait::has_exponents)};
    const typename Trait::Number last = Frontier<Trait>(work, numbers).compute(counts);
    EngineResult result = numbers.close(last);
    result.counts = counts;
    if (!Trait::has_exponents && numbers.has_underflowed(last)) return again_in_range(std::move(result), run);
    return result;
}

template <template <class> class Frontier> EngineResult compute_real(const FrontierRun &run) {
    using R = number::Real<double>;
    const Block &block = *run.input.block();
    return run.input.states().nonnegative
               ? compute_bounded<Frontier, BoundedNumbers, NonNegative<R>>(run, block)
               : compute_bounded<Frontier, BoundedNumbers, Signed<R>>(run, block);
}

template <template <class> class Frontier> EngineResult compute_wide(const FrontierRun &run) {
    using number::Complex, number::DD, number::Real;
    const WideEntries &entries = *run.input.wide();
    switch (run.input.states().arithmetic) {
    case Arithmetic::complex:
        return compute_bounded<Frontier, BoundedNumbers, Signed<Complex<Real<double>>>>(run, entries);
    case Arithmetic::dd:
        return run.input.states().nonnegative
                   ? compute_bounded<Frontier, BoundedNumbers, NonNegative<DD<double>>>(run, entries)
                   : compute_bounded<Frontier, BoundedNumbers, Signed<DD<double>>>(run, entries);
    case Arithmetic::complex_dd:
        return compute_bounded<Frontier, BoundedNumbers, Signed<Complex<DD<double>>>>(run, entries);
    default:
        throw Error(PERM_INTERNAL, "engine frontier: exact entries in an arithmetic that needs none");
    }
}

template <template <class> class Frontier> EngineResult compute_residues(const FrontierRun &run) {
    const Residues &residues = *run.input.residues();
    const std::size_t matrices = residues.primes.size();
    const std::size_t at_once = run.device ? 1 : residues_at_once; // a device has one
    const std::size_t passes = (matrices + at_once - 1) / at_once;
    RunControl part(run.control, 1 / static_cast<double>(passes));
    const FrontierWork work{run.program, part, run.memory, run.threads, run.device};
    Counts counts;
    ResidueVector all = in_passes(residues, at_once, [&]<class Trait>(Trait &numbers) {
        return Frontier<Trait>(work, numbers).compute(counts);
    });
    return {std::move(all), counts};
}

} // namespace libperm
