// The samples of an estimate shared out: what a shard came to as bytes, and the estimate from them
// (perm_estimate_run_shard, perm_estimate_combine).
#pragma once

#include "lib/estimates/estimate_identity.hpp"
#include "lib/estimates/estimate_plan.hpp"
#include "lib/run/task_identity.hpp"

#include <span>
#include <string>
#include <string_view>

namespace libperm {

TaskIdentity identity_of(const EstimatePlan &plan, const EstimateIdentity &identity);

std::string run_estimate_shard(const EstimatePlan &plan, const EstimateIdentity &identity,
                               std::int64_t number, SampleDevices *devices, RunControl &control);

// With the bits of one call. Throws Error, naming the partial result that is at fault or the first shard that
// is missing.
MatrixEstimate combine_estimate(const EstimatePlan &plan, const EstimateIdentity &identity,
                                std::span<const std::string_view> partials, RunControl &control,
                                const EstimatePlan::Told &told);

} // namespace libperm
