// Terms far out: the operator as full matrices, squared again and again, in doubles, in twice as many or in
// residues (docs/periodic.md, "Powers").
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Whether a period's numbers stay in the range of doubles, its entries scaled.
bool may_be_squared(const PeriodicPlan &plan);

// parts * 2^exp2, beside it the sum of the terms' absolute values, which covers what doubles have lost.
struct SquaredNumber {
    PackedParts parts{};
    double absolute = 0;
    std::int64_t exp2 = 0;
    double times = 1; // that it counts
};

// The moves' entries, none of whose sizes is below its absolute value.
struct SquaredEntries {
    const std::vector<Gaussian> &values, &sizes;
    Arithmetic arithmetic; // of the values; sizes are in doubles
};

// a(m) of joined ends is the sum of the traces of its blocks' sectors.
std::vector<SquaredNumber> traces_by_squares(const PeriodicPlan &plan, const SquaredEntries &entries,
                                             std::int64_t m, RunControl &control);

// The states of open ends so many periods behind `x`.
std::vector<SquaredNumber> advanced_by_squares(const PeriodicPlan &plan, const SquaredEntries &entries,
                                               const std::vector<SquaredNumber> &x, std::int64_t periods,
                                               RunControl &control);

// a(m) of joined ends, of the whole numbers that `residues` are, modulo its first prime.
std::uint64_t trace_modulo(const PeriodicPlan &plan, const Residues &residues, std::int64_t m,
                           RunControl &control);

// Seconds on one thread: in doubles or pairs of them; modulo a prime.
double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd);
double residue_squares_seconds(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime);

} // namespace libperm
