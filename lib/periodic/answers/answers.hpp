// What a periodic matrix's permanents are, in the numbers that the options ask for.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/outcome.hpp"

#include <vector>

namespace libperm {

// a(first), a(first + 1), ...; throws Error. With precision auto whole numbers are exact where that takes
// `instant_seconds` at most, with 0 only where the tolerance is missed; else they are doubles, then dd, then
// exact, as run/escalation.hpp has it.
std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    RunControl &control, double instant_seconds = second_run_seconds);

// Seconds that this takes at least, on the plan's threads, roughly.
double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        double instant_seconds = second_run_seconds);

} // namespace libperm
