#include "lib/periodic/answers/device_choice.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/run/gpu_device.hpp"

namespace libperm {
namespace {

// Its context, and kernels that may have to be compiled.
constexpr double start_seconds = 2;

bool is_quicker_on_gpu(const Options &options, const DeviceWork &predicted) {
    const double here = predicted.cpu_seconds / options.threads;
    if (here < start_seconds + predicted.gpu_seconds) return false; // before a driver is looked for
    const GpuSight sight = first_gpu_in_sight();
    constexpr double usable = 0.99;
    return sight.gpu && predicted.gpu_bytes < usable * static_cast<double>(sight.gpu->memory_bytes);
}

} // namespace

void on_best_device(const Options &options, const DeviceWork &predicted,
                    const std::function<void(DeviceQueue *)> &work) {
    const bool on_gpu = options.device == Device::gpu ||
                        (options.device == Device::automatic && is_quicker_on_gpu(options, predicted));
    if (!on_gpu) return work(nullptr);
    log_decision(
        formatted("periodic: on the GPU, predicted to take {:.3g} s on one thread, {:.3g} GB of its memory",
                  predicted.cpu_seconds, predicted.gpu_bytes / 1e9));
    const auto there = [&] {
        GpuQueues queues(options);
        work(&queues.first());
    };
    if (options.device == Device::gpu) return with_gpu_errors(there);
    try {
        there();
    } catch (const JitError &error) { // it may have less memory left than it has
        log_warning(formatted("periodic: {}; on the processor now", error.what()));
        work(nullptr);
    }
}

} // namespace libperm
