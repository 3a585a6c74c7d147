// Terms far out: the operator as full matrices, squared again and again, in doubles, in twice as many or in
// residues (docs/periodic.md, "Powers").
#pragma once

#include "lib/number/residues.hpp"
#include "lib/number/state_number.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Whether a period's numbers stay in the range of doubles, its entries scaled.
bool may_be_squared(const PeriodicPlan &plan);

// The moves' entries, none of whose sizes is below its absolute value: they are the same where none is
// negative.
struct SquaredEntries {
    const std::vector<Gaussian> &values, &sizes;

    bool are_sizes() const { return &values == &sizes; }
};

// A: doubles or pairs of them, real or complex.
template <class A> struct FloatSquares {
    using Number = Ranged<Signed<A>>;

    // a(m) of joined ends, the sum of the traces of its blocks' sectors; with it the sum of the terms'
    // absolute values, which covers what doubles have lost.
    static Number term(const PeriodicPlan &plan, const SquaredEntries &entries, std::int64_t m);

    // The states of open ends so many periods behind `x`.
    static std::vector<Number> advanced(const PeriodicPlan &plan, const SquaredEntries &entries,
                                        std::vector<Number> x, std::int64_t periods);
};

// a(m) of joined ends, of the whole numbers that `residues` are, modulo its first prime.
std::uint64_t trace_modulo(const PeriodicPlan &plan, const Residues &residues, std::int64_t m);

// Seconds on one thread: in doubles or pairs of them; modulo a prime.
double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd);
double residue_squares_seconds(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime);

} // namespace libperm
