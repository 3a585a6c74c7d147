// Engine `tree` on a CPU: the same bits as on a GPU, on any number of threads.
#pragma once

#include "lib/subsets/windows.hpp"

namespace libperm {

// Of a plan for engine `tree`. All that is given stays the caller's.
std::unique_ptr<WindowWorker> tree_on_cpu(const SubsetPlan &plan);

} // namespace libperm
