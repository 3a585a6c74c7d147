// A machine as plans reckon with it, here or elsewhere, and the JSON that tells of one.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "lib/base/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

// Seconds that a GPU takes before it begins, as hosts of an H100 and an H200 did.
namespace gpu_start {
constexpr double open = 0.3125;       // its context, once a process
constexpr double compile = 1.5;       // a kernel, once a machine: it is kept
constexpr double bring_in = 0.05;     // a kernel that is kept, and memory
constexpr double of_compiling = 0.25; // the share of runs that compile: the others find it kept
} // namespace gpu_start

// Seconds of one thread of the processor: below, opening a GPU takes longer, for its host has eight threads
// and more. Not by the threads that are allowed, on which no result depends.
constexpr double worth_a_gpu = 8 * gpu_start::open;

// The share of a GPU's memory that work may take: the rest is the driver's, and others'.
constexpr double usable_of_gpu = 0.95;

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
