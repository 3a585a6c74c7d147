// The loops of an operator: what joined ends are summed over, and what long matrices grow by.
#pragma once

#include "lib/periodic/period/period_operator.hpp"

#include <vector>

namespace libperm {

// The strongly connected components of an operator, those with a loop.
std::vector<PeriodBlock> loops_of(const PeriodLevels &levels, const Poll &poll);

// Of joined ends, all starts: the strongly connected components of the operator's graph, for from no other
// state a way leads back to where it began. The permanent is the sum of their traces. States that a symmetry
// of the cell makes of each other have as many loops: one of them is a start.
std::vector<PeriodBlock> write_loops(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll,
                                     MemoryAccount *account);

} // namespace libperm
