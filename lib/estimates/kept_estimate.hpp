// The sums of an estimate's samples in a file, so that it can be gone on with, with the same bits
// (execute/checkpoint.hpp is about computations). It is planned anew, as everybody plans the same.
#pragma once

#include "lib/estimates/estimate_identity.hpp"
#include "lib/estimates/estimate_plan.hpp"

#include <string>

namespace libperm {

// EstimatePlan::run, going on from the checkpoint that the options name, if they name one. Throws Error
// (PERM_BAD_OPTION) where that is of another matrix, other options or no estimate.
MatrixEstimate run_kept(const EstimatePlan &plan, const EstimateIdentity &identity, const InputPattern &input,
                        const Options &options, SampleDevices *devices, RunControl &control,
                        const EstimatePlan::Told &told);

} // namespace libperm
