// How fast the permanents grow with the length: the operator's spectral radius.
#pragma once

#include "lib/periodic/answers/periodic_plan.hpp"

namespace libperm {

// Per cell. 0 where no long matrix has a permanent other than 0. Throws Error (PERM_UNSUPPORTED) where an
// entry is negative or not real.
Growth growth_of(const PeriodicPlan &plan, RunControl &control);

// With other entries, none negative, in place of the plan's; and whether these are of a size that doubles can
// take.
Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values, RunControl &control);
bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values);

} // namespace libperm
