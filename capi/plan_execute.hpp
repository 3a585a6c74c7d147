// A plan executed with a caller's values: along its tape or by sums over signs where it has such a way, else
// by the engines of its blocks.
#pragma once

#include "capi/compute.hpp"
#include "lib/execute/batch.hpp"

#include <perm.h>

#include <memory>
#include <string>

namespace capi {

void fill(perm_result &result, const perm_plan &plan, const libperm::TapeAnswer &answer, bool with_text,
          bool on_gpu = false);

// Of a matrix of a batch, with a text where a double does not tell all.
libperm::BatchWays ways_of(const perm_plan &plan);
void fill_of_batch(perm_result &result, const perm_plan &plan, const libperm::BatchAnswer &answer);

// False if the plan is to be executed otherwise.
bool execute_directly(const perm_plan &plan, const void *values, perm_result &result);

// Of a matrix, and of a saved plan.
std::unique_ptr<perm_plan> create_plan(const perm_csr *a, const perm_opts *opts);
std::unique_ptr<perm_plan> load_plan(const std::string &bytes, const perm_opts *opts);

std::string explain(const perm_plan &plan, perm_format format);

// Into a cleared result.
void execute(const perm_plan &plan, const void *values, perm_result &result);

} // namespace capi
