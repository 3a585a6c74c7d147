// What a GPU can do, as its driver tells it: what plans reckon with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace libperm {

struct GpuProperties {
    int ordinal = 0;
    std::string name;
    int compute_capability = 0; // 90
    int multiprocessors = 0;
    int fp64_lanes = 0;             // double-precision results a clock of one multiprocessor
    int registers = 0, threads = 0; // of one multiprocessor
    int warp = 32;
    std::size_t shared_bytes = 0; // that one block can have at most, when it asks for it
    double clock_hz = 0;
    std::int64_t memory_bytes = 0;
    double memory_bandwidth = 0; // bytes a second, as its clock and width have it
    std::int64_t l2_bytes = 0;
};

} // namespace libperm
