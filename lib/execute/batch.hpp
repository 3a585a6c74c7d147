// Many matrices of one pattern.
#pragma once

#include "lib/execute/execute.hpp"
#include "lib/tape/on_device.hpp"
#include "lib/tape/tape_run.hpp"

#include <functional>

namespace libperm {

// What becomes of matrix k; called by any thread, once for each unless an Error is thrown.
struct BatchSink {
    std::function<void(std::int64_t k, const TapeAnswer &, bool on_gpu)> direct;
    std::function<void(std::int64_t k, const Outcome &)> general;
};

// Matrix k's values begin k * stride values after the first's. Those that `direct`, which may be null,
// answers within the tolerance take that way, eight at a time, the others the plan's. Throws Error, naming
// the matrix. `idle_tapes`: of `direct`.
void execute_batch(const Plan &plan, const TapePlan *direct, const IdleTapes &idle_tapes, const void *values,
                   std::int64_t stride, std::int64_t count, RunControl &control, const BatchSink &sink);

} // namespace libperm
