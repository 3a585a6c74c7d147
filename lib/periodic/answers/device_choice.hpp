// What a periodic matrix's work takes, and where it runs for that.
#pragma once

#include "lib/run/placement.hpp"

#include <functional>

namespace libperm {

// Predicted, on one thread of the processor; on a GPU its memory, and seconds beyond its start.
struct DeviceWork {
    double cpu_seconds = 0, gpu_bytes = 0, gpu_seconds = 0;
};

// Runs `work` with a GPU's queue or with null, by placement.hpp's rule.
inline void on_best_device(const Options &options, const DeviceWork &predicted,
                           const std::function<void(DeviceQueue *)> &work) {
    run_placed({"periodic", predicted.cpu_seconds / options.threads, gpu_start::open + gpu_start::compile,
                [&](const GpuProperties &) { return predicted.gpu_seconds; }, predicted.gpu_bytes, false},
               options, work);
}

} // namespace libperm
