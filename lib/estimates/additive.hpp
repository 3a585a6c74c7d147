// The permanent of a matrix with negative or complex entries, estimated with an additive error.
#pragma once

#include "lib/estimates/estimate_plan.hpp"

namespace libperm {

std::unique_ptr<const EstimatePlan> plan_additive(const InputPattern &input, const Values &values,
                                                  const Options &options, const EstimateRequest &request,
                                                  RunControl &control);

} // namespace libperm
