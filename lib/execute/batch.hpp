// Many matrices of one pattern.
#pragma once

#include "lib/execute/execute.hpp"
#include "lib/glynn/calls/glynn_plan.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/tape/on_device.hpp"
#include "lib/tape/tape_run.hpp"

#include <functional>

namespace libperm {

// What becomes of matrix k; called by any thread, once for each unless an Error is thrown.
struct BatchSink {
    std::function<void(std::int64_t k, const DenseSum &)> glynn;
    std::function<void(std::int64_t k, const TapeAnswer &, bool on_gpu)> direct;
    std::function<void(std::int64_t k, const Outcome &)> general;
};

// The ways of a plan that look at nothing but values, or null.
struct BatchWays {
    const GlynnPlan *glynn;
    const TapePlan *direct;
    const IdleTapes &idle_tapes; // of `direct`
    bool are_named = true;       // matrices, by what is thrown: else they are the caller's one
};

// Throws Error of what is no batch of the plan's matrices.
void check_batch(const Plan &plan, const void *values, std::int64_t stride, std::int64_t count);

// Matrix k's values begin k * stride values after the first's. Those that are answered within the tolerance
// by Glynn's sum, or by the tape, take that way, many at a time, the others the plan's. Throws Error, naming
// the matrix.
void execute_batch(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                   std::int64_t count, const BatchSink &sink);

// Some of the matrices that were checked, as part of a call.
void execute_matrices(const Plan &plan, const BatchWays &ways, const void *values, std::int64_t stride,
                      NumberRange matrices, const BatchSink &sink);

// Whether matrices of the plan are computed at the same time, each on a thread.
bool is_for_threads(const Plan &plan);

} // namespace libperm
