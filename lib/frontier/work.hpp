// What both forms of the frontier are given, and where their numbers come from.
//
// The engines are templates of a Trait: Number (a state's) and Factor (an entry's), begin_step and end_step
// around each row, times(factor, copies), multiply(factor, number), add, zero, one and extent_of.
#pragma once

#include "lib/base/error.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/ledger.hpp"
#include "lib/frontier/residues.hpp"

#include <cstring>

namespace libperm {

struct FrontierWork {
    const FrontierProgram &program;
    RunControl &control;
    MemoryBudget &memory;
    int threads;
};

template <class Run> FrontierWork work_of(const Run &run) {
    return {run.program, run.control, run.memory, run.threads};
}

// Numbers that a bound of their error is known of: NonNegative or Signed.
template <class N> class BoundedNumbers {
  public:
    using Number = N;
    using Factor = N;
    static constexpr bool uses_fma = N::Arithmetic::parts > 1;

    explicit BoundedNumbers(const FrontierLedger &ledger) : ledger_(ledger) {}

    // By term.
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

    void close(const Number &last, Outcome &outcome) const {
        PackedParts value{};
        std::memcpy(value.data(), &last.value, sizeof last.value);
        ledger_.close(value, last.magnitude(), outcome);
    }

  private:
    FrontierLedger ledger_;
    std::vector<Factor> factors_;
};

// The forms are templates `Frontier` of their Trait: what they compute, for each kind of numbers there is.
template <template <class> class Frontier, class Number>
Outcome compute_bounded(const FrontierWork &work, const FrontierLedger &ledger) {
    using Trait = BoundedNumbers<Number>;
    Outcome outcome;
    Trait numbers(ledger);
    numbers.close(Frontier<Trait>(work, numbers).compute(outcome), outcome);
    return outcome;
}

template <template <class> class Frontier> Outcome compute_real(const FrontierRun &run, bool nonnegative) {
    using R = number::Real<double>;
    const FrontierWork work = work_of(run);
    const FrontierLedger ledger(run.input);
    return nonnegative ? compute_bounded<Frontier, NonNegative<R>>(work, ledger)
                       : compute_bounded<Frontier, Signed<R>>(work, ledger);
}

template <template <class> class Frontier> Outcome compute_wide(const WideFrontierRun &run) {
    using number::Complex, number::DD, number::Real;
    const FrontierWork work = work_of(run);
    const FrontierLedger ledger(run.input);
    switch (run.input.arithmetic) {
    case Arithmetic::complex:
        return compute_bounded<Frontier, Signed<Complex<Real<double>>>>(work, ledger);
    case Arithmetic::dd:
        return run.input.nonnegative ? compute_bounded<Frontier, NonNegative<DD<double>>>(work, ledger)
                                     : compute_bounded<Frontier, Signed<DD<double>>>(work, ledger);
    case Arithmetic::complex_dd:
        return compute_bounded<Frontier, Signed<Complex<DD<double>>>>(work, ledger);
    default:
        throw Error(PERM_INTERNAL, "engine frontier: exact entries in an arithmetic that needs none");
    }
}

// K matrices from `first` on, appended to `all`.
template <template <class> class Frontier, int K>
void compute_few(const FrontierWork &work, const Residues &residues, std::vector<std::uint64_t> &all,
                 Outcome &counts) {
    using Trait = ResidueNumbers<K>;
    Trait numbers(residues, all.size());
    const auto few = numbers.close(Frontier<Trait>(work, numbers).compute(counts));
    const std::size_t left = std::min(residues.primes.size() - all.size(), few.size());
    all.insert(all.end(), few.begin(), few.begin() + left);
}

template <template <class> class Frontier>
std::vector<std::uint64_t> compute_residues(const ResidueFrontierRun &run, Outcome &counts) {
    const std::size_t matrices = run.input.primes.size();
    const std::size_t passes = (matrices + residues_at_once - 1) / residues_at_once;
    RunControl part(run.control, 1 / static_cast<double>(passes));
    const FrontierWork work{run.program, part, run.memory, run.threads};
    std::vector<std::uint64_t> all;
    while (all.size() < matrices) {
        const std::size_t left = matrices - all.size();
        if (left == 1)
            compute_few<Frontier, 1>(work, run.input, all, counts);
        else if (left == 2)
            compute_few<Frontier, 2>(work, run.input, all, counts);
        else
            compute_few<Frontier, 4>(work, run.input, all, counts);
    }
    return all;
}

} // namespace libperm
