// The permanents of all lengths as one quotient of polynomials: sum_m a(m) x^m = numerator / denominator.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"

#include <gmpxx.h>

#include <vector>

namespace libperm {

// Of lowest power first; denominator[0] = 1. Of open ends the sum begins with m = 0, of joined ones with m
// = 1.
struct GeneratingFunction {
    std::vector<mpq_class> numerator, denominator;
    std::int64_t order = 0;              // of the recurrence: no shorter one has these terms
    static constexpr bool proven = true; // that the recurrence holds for all terms (docs/periodic.md)
    std::int64_t states = 0;             // it cannot be longer than this
    std::int64_t checked = 0;            // terms that it was checked on beyond those it was made from
};

// Throws Error (PERM_UNSUPPORTED) for entries that are not real, PERM_REFUSED_TIME or _MEMORY beyond the
// limits.
GeneratingFunction generating_function(const PeriodicPlan &plan);

} // namespace libperm
