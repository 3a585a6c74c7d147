// Plans of the library as perm_plan_save writes them, and back.
#pragma once

#include "capi/saved_task.hpp"
#include "lib/saved/bytes.hpp"

#include <string>
#include <string_view>

inline std::string save_plan(const libperm::Plan &plan) { return capi::TaskSource(plan).bytes(); }

inline libperm::Plan load_plan(std::string_view bytes, const libperm::Options &options) {
    return libperm::plan_of(capi::TaskSource(bytes).plan, options);
}
