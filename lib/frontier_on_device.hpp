// Engine `frontier` on a device: the same tables, additions and bits as on the CPU.
#pragma once

#include "jit/device_queue.hpp"
#include "lib/frontier.hpp"
#include "preprocess/frontier_slices.hpp"

namespace libperm {

// Of all: Error, JitError are thrown.

// `whole`: what the run's program is a slice of, or itself; its kernels are used.
Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run, bool nonnegative,
                              const FrontierProgram &whole);

// In these slices, or whole if there are none. Where the device has less memory left than was planned with,
// in smaller ones.
Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run,
                              const std::vector<FrontierSlice> &slices);

// Why no device can run the dense form, or null.
const char *dense_device_why_not(const FrontierProgram &program);
double dense_device_bytes(const FrontierProgram &program, bool nonnegative);

// Lists of states that take turns begin with so many bytes each; a row that may need more is counted before
// it is made.
constexpr double sparse_device_room = 0x1p24;

Outcome run_sparse_frontier_on(DeviceQueue &queue, const FrontierRun &run, bool nonnegative,
                               double room = sparse_device_room);

double sparse_device_bytes(double peak_states, double peak_candidates, int key_words, bool nonnegative);

} // namespace libperm
