#include "lib/gpu_device.hpp"

#include "jit/jit_error.hpp"
#include "jit/nvrtc.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace libperm {

GpuChoice first_gpu() {
    static std::mutex mutex;
    static std::optional<GpuChoice> known;
    const std::lock_guard lock(mutex);
    if (known) return *known;
    try {
        if (driver_status().found && !nvrtc_status().found)
            known = {nullptr, nvrtc_status().why_not};
        else
            known = {Gpu::open(0), {}};
        return *known;
    } catch (const JitError &error) {
        GpuChoice none{nullptr, error.what()};
        if (error.failure() == JitFailure::unavailable) known = none; // else it may be there the next time
        return none;
    }
}

std::shared_ptr<const Gpu> the_gpu() {
    GpuChoice first = first_gpu();
    if (!first.gpu) throw JitError(JitFailure::unavailable, first.why_not);
    return std::move(first.gpu);
}

GpuProperties planned_gpu() {
    static const GpuProperties h100 = [] {
        GpuProperties p;
        p.name = "NVIDIA H100";
        p.compute_capability = 90;
        p.multiprocessors = 132;
        p.fp64_lanes = 64;
        p.registers = 65536;
        p.threads = 2048;
        p.shared_bytes = 232448;
        p.clock_hz = 1.98e9;
        p.memory_bytes = std::int64_t{80} << 30;
        p.memory_bandwidth = 3.35e12;
        return p;
    }();
    const GpuChoice choice = first_gpu();
    return choice.gpu ? choice.gpu->properties() : h100;
}

} // namespace libperm
