// Engine `frontier` on a device: the same tables, additions and bits as on the CPU.
#pragma once

#include "jit/device_queue.hpp"
#include "lib/frontier.hpp"

namespace libperm {

// Throws Error, JitError.
Outcome run_frontier_on(DeviceQueue &queue, FrontierForm form, const FrontierRun &run);

Outcome run_dense_frontier_on(DeviceQueue &queue, const FrontierRun &run, bool nonnegative);

// Why no device can run the dense form, or null.
const char *dense_device_why_not(const FrontierProgram &program);
double dense_device_bytes(const FrontierProgram &program, bool nonnegative);

} // namespace libperm
