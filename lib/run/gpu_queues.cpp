#include "lib/run/gpu_queues.hpp"

#include "jit/queue/gpu_queue.hpp"
#include "lib/input/options.hpp"
#include "lib/run/gpu_device.hpp"

namespace libperm {

GpuQueues::GpuQueues(const Options &options) : options_(options) {}

GpuQueues::~GpuQueues() = default;

std::vector<DeviceQueue *> GpuQueues::all() {
    if (queues_.empty())
        for (const AwaitedGpu &gpu : gpus_of(options_))
            queues_.push_back(std::make_unique<GpuQueue>(gpu, options_.cache));
    std::vector<DeviceQueue *> all;
    for (const auto &queue : queues_) all.push_back(queue.get());
    return all;
}

double GpuQueues::compile_seconds() const {
    double seconds = 0;
    for (const auto &queue : queues_) seconds += queue->compile_seconds();
    return seconds;
}

int GpuQueues::kernels_compiled() const {
    int kernels = 0;
    for (const auto &queue : queues_) kernels += queue->kernels_compiled();
    return kernels;
}

} // namespace libperm
