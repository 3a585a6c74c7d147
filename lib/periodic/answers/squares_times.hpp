// What squares are predicted to take (docs/periodic.md, "Powers").
#pragma once

#include "lib/periodic/answers/device_choice.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>

namespace libperm {

// What they take on a device, which has doubles and complex ones.
DeviceWork squares_device_work(const PeriodicPlan &plan, std::int64_t m, bool complex);

// Seconds on one thread.
double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd);

} // namespace libperm
