// A machine as plans reckon with it, here or elsewhere, and the JSON that tells of one.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/base/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

struct Machine {
    std::string processor; // its name, "" if unknown
    int cores = 1;
    std::int64_t memory_bytes = 0;
    std::vector<GpuProperties> gpus; // that kernels can be compiled for
};

// The JSON of perm_opts.machine. Throws Error (PERM_BAD_OPTION), with the key that is wrong in its text.
Machine read_machine(std::string_view text);
Json machine_json(const Machine &machine); // that it is read from

std::string name_of(const Machine &machine); // "AMD EPYC 9654, 16 cores, 137 GB, 2 x NVIDIA H200"

} // namespace libperm
