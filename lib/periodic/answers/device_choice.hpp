// What a periodic matrix's work takes, and where it runs for that.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/run/placement.hpp"

#include <functional>

namespace libperm {

// Predicted, on one thread of the processor; on a GPU its memory, and seconds beyond its start.
struct DeviceWork {
    double cpu_seconds = 0, gpu_bytes = 0, gpu_seconds = 0;
};

// As placement.hpp has it; `is_shared` among all GPUs that the options name.
inline Work placed_work(const Options &options, const DeviceWork &predicted, bool is_shared) {
    return {"periodic",
            predicted.cpu_seconds / options.threads,
            gpu_start::open + gpu_start::compile,
            [seconds = predicted.gpu_seconds](const GpuProperties &) { return seconds; },
            predicted.gpu_bytes,
            is_shared};
}

// Runs `work` by placement.hpp's rule, with the queues of all GPUs that the options name, or with null.
inline void on_best_devices(const Options &options, const DeviceWork &predicted,
                            const std::function<void(const DeviceQueues *)> &work, bool is_shared = true) {
    run_placed(placed_work(options, predicted, is_shared), options, work);
}

// The same with the first GPU's queue.
inline void on_best_device(const Options &options, const DeviceWork &predicted,
                           const std::function<void(DeviceQueue *)> &work) {
    on_best_devices(
        options, predicted, [&](const DeviceQueues *queues) { work(queues ? &(*queues)[0] : nullptr); },
        false);
}

} // namespace libperm
