// A machine as plans reckon with it, here or elsewhere.
#pragma once

#include "jit/driver/gpu_properties.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

struct Machine {
    std::string processor; // its name
    int cores = 1;
    std::int64_t memory_bytes = 0;
    std::vector<GpuProperties> gpus; // that kernels can be compiled for
    std::string why_no_gpu;          // if there are none
};

} // namespace libperm
