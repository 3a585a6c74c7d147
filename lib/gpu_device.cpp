#include "lib/gpu_device.hpp"

#include "jit/jit_error.hpp"
#include "jit/nvrtc.hpp"

namespace libperm {

const GpuChoice &first_gpu() {
    static const GpuChoice choice = []() -> GpuChoice {
        try {
            if (driver_status().found && !nvrtc_status().found) return {nullptr, nvrtc_status().why_not};
            return {Gpu::open(0), {}};
        } catch (const JitError &error) {
            return {nullptr, error.what()};
        }
    }();
    return choice;
}

const GpuProperties &planned_gpu() {
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
        return p;
    }();
    const GpuChoice &choice = first_gpu();
    return choice.gpu ? choice.gpu->properties() : h100;
}

} // namespace libperm
