// A plan's kernel on a device: the same bits on each, and for engine `tree` those of a CPU.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/subsets/windows.hpp"

#include <atomic>
#include <cstdint>

namespace libperm {

// Loads the kernel, and that by which some matrix's segments are summed again. All that is given stays the
// caller's; a worker is used by one thread at a time. `seconds`: that a matrix is predicted to take.
// `peak_bytes` becomes what it takes of the device's memory, if that is more.
std::unique_ptr<WindowWorker> kernel_on_device(DeviceQueue &queue, const SubsetPlan &plan, bool refines,
                                               double seconds, std::atomic<std::int64_t> &peak_bytes);

} // namespace libperm
