#include "lib/run/placement.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/run/gpu_device.hpp"

namespace libperm {

Placement place(const Work &work, const Options &options) {
    const Placement here{false, work.cpu_seconds};
    const bool is_named = options.device == Device::gpu;
    if (options.device == Device::cpu || (!is_named && here.seconds < work.gpu_start)) return here;
    const PlanMachine machine(options);
    if (is_named && !machine.has_gpu()) throw Error(PERM_UNSUPPORTED, machine.why_no_gpu());
    if (!machine.has_gpu()) return here;
    const int gpus = work.is_shared ? machine.gpu_count() : 1;
    const Placement there{true, work.gpu_start + work.seconds_on_gpu(machine.gpu()) / gpus};
    if (!is_named && (here.seconds < there.seconds || work.gpu_bytes > machine.memory_limit(true)))
        return here;
    log_decision(formatted("{} on the GPU: predicted to take {}, {} on the processor", work.what,
                           readable_seconds(there.seconds), readable_seconds(here.seconds)));
    return there;
}

bool run_on_gpu(const std::string &what, bool is_named, const std::function<void()> &on_gpu) {
    if (is_named) {
        with_gpu_errors(on_gpu);
        return true;
    }
    try {
        on_gpu();
        return true;
    } catch (const JitError &error) {
        log_warning(formatted("{}: {}; on the processor now", what, error.what()));
        return false;
    }
}

bool run_on_gpu(const std::string &what, const Options &options, const std::function<void()> &on_gpu) {
    return run_on_gpu(what, options.device == Device::gpu, on_gpu);
}

bool is_of_its_device(const std::exception_ptr &error, bool alone) {
    try {
        std::rethrow_exception(error);
    } catch (const JitError &failure) {
        if (!alone) log_warning(std::string("a device is left out: ") + failure.what());
        return true;
    } catch (...) {
        return false;
    }
}

void run_placed(const Work &work, const Options &options,
                const std::function<void(const DeviceQueues *)> &run) {
    const bool is_done = place(work, options).on_gpu && run_on_gpu(work.what, options, [&] {
                             GpuQueues gpus(options);
                             const DeviceQueues queues = gpus.when_needed();
                             run(&queues);
                         });
    if (!is_done) run(nullptr);
}

std::string beyond_time_limit(double seconds, const Options &options, const std::string &where) {
    return formatted("predicted to take {}{}, {} is the limit", readable_seconds(seconds),
                     where.empty() ? "" : " on " + where, readable_seconds(options.refuse_seconds));
}

Error refused_for_time(const std::string &what, double seconds, const Options &options,
                       const std::string &advice) {
    return {PERM_REFUSED_TIME, what + " " + beyond_time_limit(seconds, options) + "\n  " + advice};
}

Error refused_for_memory(const std::string &what, double limit, const std::string &advice) {
    return {PERM_REFUSED_MEMORY, formatted("{}; {} is the limit\n  {}", what, readable_bytes(limit), advice)};
}

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
