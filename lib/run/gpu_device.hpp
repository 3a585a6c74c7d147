// The GPU that plans are made for, and those that execute them.
#pragma once

#include "jit/driver/gpu.hpp"
#include "jit/driver/gpu_properties.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

struct Options;

// The first of the machine, as far as it can be told without opening it: what it can do, or why there is none
// that kernels can be compiled for. Where it was opened in vain, why.
struct GpuSight {
    std::optional<GpuProperties> gpu;
    std::string why_not;
};
GpuSight first_gpu_in_sight();

// The first, opened, or null and why not. That is done once a process, and it is held until that ends: it
// takes some tenths of a second, which who comes meanwhile waits for.
struct GpuChoice {
    std::shared_ptr<const Gpu> gpu;
    std::string why_not;
};
GpuChoice first_gpu();
void open_first_gpu() noexcept;       // if it can be, for who will ask for it
std::shared_ptr<const Gpu> the_gpu(); // or JitError is thrown

// All that kernels can be compiled for; of those that cannot be opened a warning is logged.
std::vector<GpuProperties> gpus_here();

// Those that the options name, at least one, held until the process ends; of those that cannot be opened a
// warning is logged. Where they name none the first, which may still be being opened. Throws JitError, Error
// (PERM_BAD_OPTION) for a number that there is not.
std::vector<AwaitedGpu> gpus_of(const Options &options);
// Opens them, where there are any and the plan is for this machine, so that executing it need not.
void prepare_gpus(const Options &options);

// `work` with what the GPU's side throws as an Error.
void with_gpu_errors(const std::function<void()> &work);

} // namespace libperm
