// How the permanent of a matrix is estimated: by whichever method its entries allow.
#pragma once

#include "lib/estimates/estimate_plan.hpp"

namespace libperm {

// Throws Error, also where no estimate can be had.
std::unique_ptr<const EstimatePlan> plan_estimate(const InputPattern &input, const Values &values,
                                                  const Options &options, const EstimateRequest &request,
                                                  RunControl &control);

} // namespace libperm
