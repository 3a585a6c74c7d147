// The derivatives of a hafnian one by one, whatever the graph: by an entry it is the hafnian of the graph
// without the entry's lines. Each is the plan's with other values, in which the entry is 1 and all others of
// its lines are 0, with the bound, and the digits, that the plan's engines have.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/tape/tape_run.hpp"

namespace libperm {

double seconds_of_minors(const Plan &plan); // and of the hafnian itself

// As Gradient::run and Gradient::marginals.
TapeAnswer gradient_by_minors(const Plan &plan, const void *values, double *gradient, double *error_bounds,
                              Outcome &outcome);
TapeAnswer marginals_by_minors(const Plan &plan, const void *values, double *marginals, double *error_bounds,
                               Outcome &outcome);

} // namespace libperm
