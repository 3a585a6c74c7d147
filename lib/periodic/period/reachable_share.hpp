// How many of the sets of open columns are states, found by trying some: what an operator takes is known so
// before it is written.
#pragma once

#include "lib/periodic/period/period_program.hpp"

namespace libperm {

// Of the sets of as many open columns as are used at a cut, the share that the start leads to within a few
// cells: a lower bound of it, but for chance. Of open ends without a head.
double reachable_share(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll);

} // namespace libperm
