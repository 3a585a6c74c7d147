// The permanent of a whole matrix, estimated: after the reductions, what falls apart and is quick exactly,
// the rest from samples.
#pragma once

#include "lib/estimates/estimate.hpp"
#include "lib/estimates/request.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"

namespace libperm {

// With the options' limits, threads and passes. Throws Error.
MatrixEstimate estimate_matrix(const InputPattern &input, const Values &values, const Options &options,
                               const EstimateRequest &request, RunControl &control);

} // namespace libperm
