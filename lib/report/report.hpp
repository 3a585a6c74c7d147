// Plans, kernels, machines and what this library keeps, in words for a person or as JSON.
#pragma once

#include "lib/base/json.hpp"
#include "lib/execute/plan_gradient.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/plan/plan.hpp"

#include <cstdint>
#include <string>

namespace libperm {

// `gradient`: of the plan's derivatives; `tape`: which its executions go along, may be null.
std::string explain_text(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);
std::string explain_json(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);
// The same, and what a picture shows besides.
std::string picture_json(const Plan &plan, const GradientForecast &gradient = {},
                         const TapePlan *tape = nullptr);

Json picture_of(const Plan &plan); // its key "picture" (perm.h), without what it has in words

// The CUDA C++ of a plan's kernel, for whoever wants to read it or to compile it elsewhere: that of the block
// that takes longest, whether there is a GPU and NVRTC here or not; the same text for the same pattern and
// options, but for the first line, which says what it would be compiled for and with. `target`: "sm_90" or
// "compute_90"; NULL: the first GPU's, else the newest that NVRTC knows, else none. Throws Error
// (PERM_BAD_OPTION; PERM_UNSUPPORTED: no kernel computes that block).
std::string kernel_source(const Plan &plan, const char *target);

// A periodic plan, and its generating function.
std::string periodic_text(const PeriodicPlan &plan);
std::string periodic_json(const PeriodicPlan &plan);

std::string generating_function_text(const GeneratingFunction &f);
std::string generating_function_json(const GeneratingFunction &f);

// What this build of the library is, and what it runs on.
std::string info_text();
std::string info_json();
std::string machine_here(); // as perm_opts.machine has it

// The folder of compiled kernels, and each kernel that lies in it. NULL: default_cache_folder(). A folder
// that is missing or that cannot be used has none, and the text says so.
std::string cache_text(const char *folder);
std::string cache_json(const char *folder);

// Removes the kernels, and what was left half written; returns how many files. Throws Error (PERM_BAD_OPTION)
// if the folder is there and cannot be read.
std::int64_t clear_cache(const char *folder);

} // namespace libperm
