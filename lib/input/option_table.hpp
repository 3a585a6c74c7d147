// Which options count for which call: the one table that the calls check by, and that the command's options,
// the manual and the Python package follow. What it does not name counts.
#pragma once

#include "lib/input/options.hpp"

#include <string>

namespace libperm {

enum class ApiCall {
    compute, // and perm_compute_with_plan
    compute_product,
    permanents,
    plan_create,
    plan_load,
    plan_execute,
    plan_execute_batch,
    plan_gradient,
    plan_gradient_batch,
    plan_hessian_product,
    plan_marginals, // and the batch, and perm_marginals
    plan_shards,    // of perm_task_plan, perm_task_batch and perm_task_gradient, run and combined
    matchings,
    polynomial,
    sub_permanents,
    gradients,
    sample_photons,
    bounds,
    estimate,
    estimate_shards,
    sample,
    sampler_create,
    periodic_create,
    periodic_execute, // and perm_periodic_terms
    periodic_generating_function,
    periodic_growth,
    or_estimate // no call: what perm compute --or-estimate may come to
};

// Throws Error, with a text that says what to do instead, of the first option that is given and does not
// count.
void require_counting(const Options &options, ApiCall call);

// Reads them for a call, and requires that they count for it.
Options read_options(const perm_opts *opts, ApiCall call);

// Writes the table for others (PERM_FORMAT_OPTIONS).
std::string option_table_json();

} // namespace libperm
