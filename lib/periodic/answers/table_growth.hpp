// The growth of an operator that is not written out, by its table.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <vector>

namespace libperm {

// `factors`: of the entries, none negative. Throws Error.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, RunControl &control);

// Works on this device, or on the processor if it is null; throws JitError, too.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, DeviceQueue *queue,
                    RunControl &control);

} // namespace libperm
