// The growth of an operator that is not written out, by its table.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <vector>

namespace libperm {

// A product along the rows of a cell: the least there can be, and the sum of all; 1 is among both.
struct ProductRange {
    double least = 1, most = 1;
};
ProductRange range_of_cell(const PeriodicMatrix &a, const std::vector<double> &factors);

// `factors`: of the entries, none negative. Throws Error.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, RunControl &control);

// Works on this device, or on the processor if it is null; throws JitError, too.
Growth table_growth(const PeriodicPlan &plan, const std::vector<double> &factors, DeviceQueue *queue,
                    RunControl &control);

} // namespace libperm
