// A plan and values in, the permanent out.
#pragma once

#include "lib/outcome.hpp"
#include "lib/plan.hpp"

#include <functional>

namespace libperm {

// Values by entry of the plan's pattern; `control` is the whole call's. Throws Error.
Outcome execute(const Plan &plan, const Values &values, RunControl &control);

// Runs `work` with at most this many threads for whatever it does in parallel.
void with_threads(int threads, const std::function<void()> &work);

} // namespace libperm
