// The caller's dense matrices, and what is asked of them: each straight from its values.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/run_control.hpp"

#include <perm.h>

namespace libperm {

// Do what perm.h says of the functions that call them. Throw Error.
void compute_sub_permanents(const perm_dense *a, const Options &options, RunControl &control,
                            void *sub_permanents, double *error_bounds);
void compute_gradients(const perm_dense *a, const Options &options, RunControl &control, void *gradients,
                       double *error_bounds, void *permanents, double *permanent_bounds);

} // namespace libperm
