// How fast the permanents grow with the length: the operator's spectral radius.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <vector>

namespace libperm {

// Per cell. 0 where no long matrix has a permanent other than 0. Throws Error (PERM_UNSUPPORTED) where an
// entry is negative or not real.
Growth growth_of(const PeriodicPlan &plan);

// With other entries, none negative, in place of the plan's; and whether these are of a size that doubles can
// take.
Growth growth_of(const PeriodicPlan &plan, const std::vector<Gaussian> &values);
bool is_bracketed(const PeriodicPlan &plan, const std::vector<Gaussian> &values);

// Of an operator that is not written out, by its table; `factors`: of the entries, none negative. Works on
// this device, or on the processor if it is null. Throws Error, JitError.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, DeviceQueue *queue);

} // namespace libperm
