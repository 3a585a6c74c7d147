// The CUDA C++ of the kernel that a plan runs, for whoever wants to read it or to compile it elsewhere.
#pragma once

#include "lib/plan/plan.hpp"

#include <string>

namespace libperm {

// The kernel of the block that takes longest, whether there is a GPU and NVRTC here or not; the same text for
// the same pattern and options, but for the first line, which says what it would be compiled for and with.
// `target`: "sm_90" or "compute_90"; NULL: the first GPU's, else the newest that NVRTC knows, else none.
// Throws Error (PERM_BAD_OPTION; PERM_UNSUPPORTED: no kernel computes that block).
std::string kernel_source(const Plan &plan, const char *target);

} // namespace libperm
