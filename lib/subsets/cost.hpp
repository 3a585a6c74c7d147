// What sums over subsets by a kernel are expected to take.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/run/cost.hpp"
#include "lib/subsets/plan.hpp"

namespace libperm {

Cost tree_cost(const SubsetPlan &plan); // on a CPU
Cost subsets_cost(const SubsetPlan &plan, const GpuProperties &gpu);

// `bits`: of the permanent, if it is to be exact.
Slowdown subsets_slowdown(bool on_gpu, const Numbers &numbers, double bits);

} // namespace libperm
