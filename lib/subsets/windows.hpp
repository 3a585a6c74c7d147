// The sum over all subsets as windows of consecutive segments, as every engine that sums over subsets by a
// kernel does it: who sums a window does not show in its bits. Engine `tree` also does on a CPU.
#pragma once

#include "lib/run/call.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace libperm {

// Sums windows first .. first + count - 1 of a matrix; one of the machine's GPUs, or its CPU.
class WindowWorker {
  public:
    virtual ~WindowWorker() = default;
    virtual std::uint64_t at_once() const = 0; // windows that it is quickest with
    // A kernel that walks in equal chunks gives one sum, that of all subsets.
    virtual std::vector<SubsetSum> sums(const SubsetMatrix &matrix, std::uint64_t first,
                                        std::uint64_t count) = 0;
};

using WindowWorkers = std::vector<std::unique_ptr<WindowWorker>>;

// Each matrix's sum over all subsets; all are of one pattern.
// The workers are opened where there are windows to sum; one that fails with a JitError is left out while
// there are others.
std::vector<SubsetSum> sum_windows(const SubsetPlan &plan, const std::vector<SubsetMatrix> &matrices,
                                   const std::function<WindowWorkers()> &open);

// Of a plan for engine `tree`. All that is given stays the caller's.
std::unique_ptr<WindowWorker> tree_on_cpu(const SubsetPlan &plan);

} // namespace libperm
