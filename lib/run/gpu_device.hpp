// The GPU that plans are made for, and those that execute them.
#pragma once

#include "jit/driver/gpu.hpp"

#include <memory>
#include <string>
#include <vector>

namespace libperm {

struct Options;

// The first of the machine, or null and why there is none that kernels can be compiled for. Asked for once a
// process, and held until it ends: it takes some tenths of a second.
struct GpuChoice {
    std::shared_ptr<const Gpu> gpu;
    std::string why_not;
};
GpuChoice first_gpu();
std::shared_ptr<const Gpu> the_gpu(); // or JitError is thrown

// All that kernels can be compiled for; of those that cannot be opened a warning is logged.
std::vector<GpuProperties> gpus_here();

// Those that the options name, at least one, held until the process ends; of those that cannot be opened a
// warning is logged. Throws JitError, Error (PERM_BAD_OPTION) for a number that there is not.
std::vector<std::shared_ptr<const Gpu>> gpus_of(const Options &options);
// Opens them, where there are any and the plan is for this machine, so that executing it need not.
void prepare_gpus(const Options &options);

} // namespace libperm
