// What perm_compute comes to: Glynn's sum without a plan, a sum over counts, or a plan that is executed once.
#pragma once

#include "capi/plan_handle.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/option_table.hpp"
#include "lib/run/call.hpp"

#include <perm.h>

#include <memory>
#include <string>

namespace capi {

// Throw Error: of a null pointer, of a plan that only tells of a computation, or of one with options that do
// not count for the call.
void require_kept(const perm_plan *plan);
void require_executable(const perm_plan *plan, libperm::ApiCall call);

// The caller's matrix, within the call's memory, polled.
libperm::InputPattern pattern_for(const perm_csr *a,
                                  libperm::MatrixFunction function = libperm::MatrixFunction::permanent);
libperm::Values values_for(const libperm::InputPattern &input, const void *values);
libperm::Values values_for(const libperm::InputPattern &input, const perm_csr &a);

// In place: of microseconds each copy counts. False, and the result is cleared: it is to be computed
// otherwise.
bool compute_by_sum(const perm_csr *a, const perm_opts *opts, perm_result *result);

// Into a cleared result. The plan only tells of the computation; none of thousands of each kind.
void compute_otherwise(const perm_csr *a, const perm_opts *opts, perm_result &r);
void compute_otherwise(const perm_csr *a, const libperm::Options &options, perm_result &r);
std::unique_ptr<perm_plan> compute_by_plan(const perm_csr *a, const perm_opts *opts, perm_result &r);

// How a single computation goes where not by this plan of the matrix, in words; else empty.
std::string way_beside_plan(const perm_csr *a, const libperm::Options &options, const libperm::Plan &plan);

// Of what was computed without a plan: the one that would have been made.
std::unique_ptr<perm_plan> plan_beside_sum(const perm_csr *a, const perm_opts *opts);

} // namespace capi
