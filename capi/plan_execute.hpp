// A plan executed with a caller's values: along its tape or by sums over signs where it has such a way, else
// by the engines of its blocks.
#pragma once

#include "capi/plan_handle.hpp"
#include "capi/task_source.hpp"

#include <perm.h>

#include <memory>
#include <string>

namespace capi {

void fill(perm_result &result, const perm_plan &plan, const libperm::TapeAnswer &answer, bool with_text,
          bool on_gpu = false);

// False if the plan is to be executed otherwise.
bool execute_directly(const perm_plan &plan, const void *values, perm_result &result);

// Of a saved task that is planned.
std::unique_ptr<perm_plan> load_plan(const TaskSource &source, const perm_opts *opts);

std::string explain(const perm_plan &plan, perm_format format);

// Into a cleared result.
void execute(const perm_plan &plan, const void *values, perm_result &result);

} // namespace capi
