// The permanent of a matrix with negative or complex entries, estimated with an additive error.
#pragma once

#include "lib/estimates/estimate.hpp"
#include "lib/estimates/request.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"

namespace libperm {

// After the reductions; blocks that are quick exactly. Throws Error.
MatrixEstimate estimate_additively(const InputPattern &input, const Values &values, const Options &options,
                                   const EstimateRequest &request, RunControl &control);

} // namespace libperm
