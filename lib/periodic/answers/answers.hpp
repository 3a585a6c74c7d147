// What a periodic matrix's permanents are, in the numbers that the options ask for.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/outcome.hpp"

#include <vector>

namespace libperm {

// What precision auto does at once.
struct AtOnce {
    double exact_seconds = 60; // that whole numbers may take exactly; 0: only where the tolerance is missed
};

// a(first), a(first + 1), ...; throws Error. With precision auto whole numbers are exact where that takes
// seconds; else doubles, and twice as many where the tolerance is missed.
std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    RunControl &control, AtOnce at_once = {});

// Seconds that this takes at least, on the plan's threads, roughly.
double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        AtOnce at_once = {});

} // namespace libperm
