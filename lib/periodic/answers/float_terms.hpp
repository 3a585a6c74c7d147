// Permanents of a periodic matrix in doubles, or twice as many, each with an exponent of its own and a bound.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/results.hpp"

#include <vector>

namespace libperm {

// a(first), a(first + 1), ...; `dd`: in twice a double. Bounds as the frontier's (docs/accuracy.md). One
// alone is found by squaring the operator where that takes less.
std::vector<Outcome> float_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd);

// e with |a(m)| < 2^e, for certain and hardly more; of numbers that grow beyond 2^(2^62) throws Error
// (PERM_UNSUPPORTED).
std::vector<std::int64_t> term_bits(const PeriodicPlan &plan, std::int64_t first, std::int64_t count);

// Bits of a(m), roughly: what exact numbers cost.
double estimated_bits(const PeriodicPlan &plan, std::int64_t m);

// The same, soon said and too many: of open ends without head and tail |a(m)| < 2^this. Of a row with the
// entries x_1 >= x_2 >= ... its factor is the sum over k of (x_k - x_{k+1}) (k!)^(1/k) (Soules, Linear
// Multilinear Algebra 51 (2003)).
double most_bits(const PeriodicPlan &plan, std::int64_t m);

// The least length for which the operator is squared, for one term; 0: none.
std::int64_t squared_from(const PeriodicPlan &plan, bool dd);

// Seconds on one thread, roughly.
double float_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, bool dd);

} // namespace libperm
