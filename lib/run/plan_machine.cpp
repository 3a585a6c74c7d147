#include "lib/run/plan_machine.hpp"

#include "jit/compile/nvrtc.hpp"
#include "jit/driver/gpu.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"

#include <algorithm>

namespace libperm {
namespace {

GpuProperties h100() {
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
}

} // namespace

bool PlanMachine::is_elsewhere() const { return options_.machine != nullptr; }

const GpuSight &PlanMachine::sight() const {
    if (!sight_) sight_ = first_gpu_in_sight();
    if (sight_->gpu && call_) call_->begin_beside(open_first_gpu);
    return *sight_;
}

bool PlanMachine::has_gpu() const {
    return options_.machine ? !options_.machine->gpus.empty() : sight().gpu.has_value();
}

std::string PlanMachine::why_no_gpu() const {
    return options_.machine ? "the machine that is planned for has none" : sight().why_not;
}

GpuProperties PlanMachine::gpu() const {
    if (!has_gpu()) return h100();
    return options_.machine ? options_.machine->gpus.front() : *sight().gpu;
}

int PlanMachine::gpu_count() const {
    if (options_.reckoned_gpus > 0) return options_.reckoned_gpus;
    const int all = options_.machine    ? static_cast<int>(options_.machine->gpus.size())
                    : options_.all_gpus ? driver_status().gpus
                                        : 0;
    return std::max(1, options_.all_gpus ? all : static_cast<int>(options_.gpus.size()));
}

void PlanMachine::looked_up_order(bool was_kept) const {
    has_kept_order_ |= was_kept;
    if (!has_kept_order_ && saw_gpu() && call_) call_->begin_beside(begin_nvrtc);
}

double PlanMachine::memory_limit(bool on_gpu) const {
    return on_gpu ? usable_of_gpu * static_cast<double>(gpu().memory_bytes)
                  : static_cast<double>(options_.memory_limit);
}

} // namespace libperm
