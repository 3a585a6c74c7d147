// The GPU that plans are made for.
#pragma once

#include "jit/gpu.hpp"

#include <memory>
#include <string>

namespace libperm {

// The first of the machine, or null and why there is none that kernels can be compiled for. Asked for once a
// process, and held until it ends: it takes some tenths of a second.
struct GpuChoice {
    std::shared_ptr<const Gpu> gpu;
    std::string why_not;
};
GpuChoice first_gpu();
std::shared_ptr<const Gpu> the_gpu(); // or JitError is thrown

// That plans reckon with: of the first GPU, or, where there is none, an H100's.
GpuProperties planned_gpu();

} // namespace libperm
