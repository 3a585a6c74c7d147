#include "lib/samples/device_choice.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/run/plan_machine.hpp"

namespace libperm {

SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options) {
    constexpr double start_seconds = 0.3; // its context, and now and then a kernel to be compiled
    const double here = seconds / options.threads;
    const bool is_named = options.device == Device::gpu;
    if (options.device == Device::cpu || (!is_named && here < start_seconds)) return {nullptr, here};
    const PlanMachine machine(options);
    if (is_named && !machine.has_gpu()) throw Error(PERM_UNSUPPORTED, machine.why_no_gpu());
    if (!machine.has_gpu()) return {nullptr, here};
    const double there = start_seconds + seconds_on(machine.gpu()) / machine.gpu_count();
    if (!is_named && here < there) return {nullptr, here};
    log_decision(formatted("the samples are drawn on the GPU: predicted to take {}, {} on the processor",
                           readable_seconds(there), readable_seconds(here)));
    return {std::make_unique<SampleDevices>(options, there), there};
}

} // namespace libperm
