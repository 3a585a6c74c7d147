// What a caller's perm_periodic_plan points to.
#pragma once

#include "capi/task_source.hpp"
#include "lib/input/option_table.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <perm.h>

#include <memory>
#include <mutex>
#include <optional>

struct perm_periodic_plan {
    libperm::PeriodicPlan plan;
    capi::TaskSource source; // of its tasks, but for their lengths and their way
    // Found once: a text is asked for twice, of what size it is and then what it says.
    mutable std::mutex function_mutex;
    mutable std::optional<libperm::GeneratingFunction> function;
};

namespace capi {

// Throws Error of a null pointer, or of one with options that do not count for the call.
void require_executable(const perm_periodic_plan *plan, libperm::ApiCall call);

std::unique_ptr<perm_periodic_plan> periodic_plan(const perm_periodic *a, const perm_opts *opts);

} // namespace capi
