// What the frontier is expected to take.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/run/candidates.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/frontier_slices.hpp"
#include "preprocess/pattern.hpp"

#include <optional>
#include <vector>

namespace libperm {

// For the order search to go by: of the sparse form, of whose states many are never met; of the dense form.
FrontierPrice sparse_price();
FrontierPrice dense_price(bool nonnegative);
FrontierPrice dense_price(bool nonnegative, const GpuProperties &gpu);

// Costs on a CPU, or on the GPU that is given.
Cost frontier_cost(const FrontierProgram &program, FrontierForm form, bool nonnegative,
                   const std::optional<GpuProperties> &gpu = {});
// One slice after the other, so of memory and states at once what the greatest takes.
Cost sliced_cost(const FrontierProgram &program, FrontierForm form, const std::vector<FrontierSlice> &slices,
                 bool nonnegative, const std::optional<GpuProperties> &gpu = {});

// Of a program with branches, on a CPU; for the search to go by.
Cost branches_cost(const FrontierProgram &program, bool nonnegative);
BranchPrice branch_price();
double join_seconds(const FrontierJoin &join, double joined); // of one thread; states of both lists
double step_seconds(const FrontierStep &step, double before); // states before it
// The cost where large joins and steps go to a GPU.
Cost branches_cost(const FrontierProgram &program, bool nonnegative, const GpuProperties &gpu);

// After the row.
double states_after(const FrontierStep &step, FrontierForm form);

// Whatever the order, of A or A^T, where repeated lines are not merged: with d the least number of entries in
// a row or column, no column closes in the first d / 2 rows, and these reach at least C(d, d/2) sets of
// columns (they choose in d (d-1) ... ways, each set at most (d/2)! times). In the same way the first r < d
// rows reach C(d, r), each of which goes on with d - r entries of the next row.
struct LeastFrontier {
    double peak_states, expansions;
};
LeastFrontier least_frontier(const Pattern &a);

// Runs, in the time of one in doubles, that entries of random signs are expected to take: where these leave
// fewer digits than are asked for, one in numbers of two doubles follows. `terms`: log2 of how many there
// are.
double expected_runs(std::int32_t n, double terms, bool on_gpu, const Numbers &numbers, double tolerance);

// `bits`: of the permanent, if it is to be exact.
Slowdown frontier_slowdown(bool on_gpu, const Numbers &numbers, double bits);

} // namespace libperm
