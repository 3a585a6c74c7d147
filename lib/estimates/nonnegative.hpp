// The permanent of a nonnegative matrix within a relative error, times 1 or -1.
#pragma once

#include "lib/estimates/estimate_plan.hpp"

namespace libperm {

std::unique_ptr<const EstimatePlan> plan_nonnegative(const InputPattern &input, const Values &values,
                                                     int sign, const Options &options,
                                                     const EstimateRequest &request, RunControl &control);

} // namespace libperm
