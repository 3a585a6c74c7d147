// Whether a periodic matrix's work is done on a GPU.
#pragma once

#include "lib/input/options.hpp"
#include "lib/run/gpu_queues.hpp"

#include <functional>

namespace libperm {

// Predicted, on one thread of the processor; on a GPU its memory, and seconds beyond its start.
struct DeviceWork {
    double cpu_seconds = 0, gpu_bytes = 0, gpu_seconds = 0;
};

// Work with a GPU's queue, or null. Told that, or where with device `auto` that is predicted to be quicker.
// Throws Error, in place of JitError too.
void on_best_device(const Options &options, const DeviceWork &predicted,
                    const std::function<void(DeviceQueue *)> &work);

} // namespace libperm
