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

// Runs `work` by placement.hpp's rule, with the queues of all GPUs that the options name, or with null.
inline void on_best_devices(const Options &options, const DeviceWork &predicted,
                            const std::function<void(const DeviceQueues *)> &work, bool is_shared = true) {
    run_placed({"periodic", predicted.cpu_seconds / options.threads, gpu_start::open + gpu_start::compile,
                [&](const GpuProperties &) { return predicted.gpu_seconds; }, predicted.gpu_bytes, is_shared},
               options, work);
}

// The same with the first GPU's queue.
inline void on_best_device(const Options &options, const DeviceWork &predicted,
                           const std::function<void(DeviceQueue *)> &work) {
    on_best_devices(
        options, predicted, [&](const DeviceQueues *queues) { work(queues ? &(*queues)[0] : nullptr); },
        false);
}

} // namespace libperm
