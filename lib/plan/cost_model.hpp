// What each engine is expected to take, in seconds of one thread and in bytes. The constants were measured on
// one machine (docs/benchmarks.md) and are part of the plan's definition: they never depend on the machine at
// hand, so that the same pattern gives the same plan everywhere. What a GPU takes follows from what its
// driver says of it.
#pragma once

#include "jit/driver/gpu.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/input/engine.hpp"
#include "lib/number/precision.hpp"
#include "lib/run/cost.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/frontier_slices.hpp"

namespace libperm {

// For the order search to go by: of the sparse form, of whose states many are never met; of the dense form.
FrontierPrice sparse_price();
FrontierPrice dense_price(bool nonnegative);
FrontierPrice dense_price(bool nonnegative, const GpuProperties &gpu);

Cost tree_cost(const GrayPlan &plan); // on a CPU
Cost gray_cost(const GrayPlan &plan, const GpuProperties &gpu);
Cost frontier_cost(const FrontierProgram &program, FrontierForm form, bool nonnegative); // on a CPU
Cost frontier_cost(const FrontierProgram &program, FrontierForm form, bool nonnegative,
                   const GpuProperties &gpu);
// After the row.
double states_after(const FrontierStep &step, FrontierForm form);
// Of the dense form: one slice after the other, so of memory and states at once what the greatest takes.
Cost sliced_cost(const FrontierProgram &program, const std::vector<FrontierSlice> &slices, bool nonnegative);
Cost sliced_cost(const FrontierProgram &program, const std::vector<FrontierSlice> &slices, bool nonnegative,
                 const GpuProperties &gpu);

// Whatever the order, of A or A^T, where repeated lines are not merged: with d the least number of entries in
// a row or column, no column closes in the first d / 2 rows, and these reach at least C(d, d/2) sets of
// columns (they choose in d (d-1) ... ways, each set at most (d/2)! times). In the same way the first r < d
// rows reach C(d, r), each of which goes on with d - r entries of the next row.
struct LeastFrontier {
    double peak_states, expansions;
};
LeastFrontier least_frontier(const Pattern &a);

// How many times what it takes in doubles; `bits` of the permanent, if it is to be exact.
struct Slowdown {
    double time = 1, memory = 1;
};
Slowdown slowdown_of(Engine engine, bool on_gpu, const Numbers &numbers, double bits);

// Of taking a matrix apart, values included, and of planning blocks when they come.
double reduction_seconds(std::int64_t nnz, std::int64_t blocks, std::int64_t unplanned);

double seconds_on(int threads, double serial_seconds);

} // namespace libperm
