#include "lib/run/gpu_device.hpp"

#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace libperm {

namespace {

// Never destroyed: a thread may be opening it while the process ends.
struct FirstGpu {
    std::mutex sighting, opening; // held while it is looked at, and while it is opened
    std::optional<GpuSight> sight;
    std::optional<GpuChoice> known;
    std::atomic<bool> was_in_vain = false; // and may not be the next time
};
FirstGpu &the_first() {
    static FirstGpu &once = *new FirstGpu;
    return once;
}

// "" if kernels can be compiled, or there is no GPU anyway.
std::string why_no_compiler() {
    return driver_status().found && !nvrtc_status().found ? nvrtc_status().why_not : "";
}

GpuSight look() {
    if (std::string why_not = why_no_compiler(); !why_not.empty()) return {{}, std::move(why_not)};
    try {
        return {Gpu::look_at(0), {}};
    } catch (const JitError &error) {
        return {{}, error.what()};
    }
}

} // namespace

GpuSight first_gpu_in_sight() {
    FirstGpu &first = the_first();
    if (first.was_in_vain) {
        const GpuChoice now = first_gpu();
        if (!now.gpu) return {{}, now.why_not};
    }
    const std::lock_guard lock(first.sighting);
    if (!first.sight) first.sight = look();
    return *first.sight;
}

GpuChoice first_gpu() {
    FirstGpu &first = the_first();
    const std::lock_guard lock(first.opening);
    if (first.known) return *first.known;
    if (std::string why_not = why_no_compiler(); !why_not.empty()) {
        first.known = {nullptr, std::move(why_not)};
        return *first.known;
    }
    try {
        first.known = {Gpu::open(0), {}};
        first.was_in_vain = false;
        return *first.known;
    } catch (const JitError &error) {
        GpuChoice none{nullptr, error.what()};
        first.was_in_vain = true;
        if (error.failure() == JitFailure::unavailable)
            first.known = none; // else it may be there the next time
        return none;
    }
}

void open_first_gpu() noexcept {
    try {
        (void)first_gpu();
    } catch (...) { // told to who asks for it
    }
}

std::shared_ptr<const Gpu> the_gpu() {
    GpuChoice first = first_gpu();
    if (!first.gpu) throw JitError(JitFailure::unavailable, first.why_not);
    return std::move(first.gpu);
}

namespace {

// Held until the process ends, as the first is: to make a context takes some tenths of a second.
std::shared_ptr<const Gpu> held_gpu(int ordinal) {
    static std::mutex mutex;
    static std::map<int, std::shared_ptr<const Gpu>> held;
    std::shared_ptr<const Gpu> gpu = Gpu::open(ordinal); // several at the same time
    const std::lock_guard lock(mutex);
    return held[ordinal] = std::move(gpu);
}

std::vector<GpuChoice> opened(const std::vector<int> &ordinals) {
    std::vector<GpuChoice> gpus(ordinals.size());
    parallel_for(ordinals.size(), [&](std::size_t k) {
        try {
            gpus[k].gpu = held_gpu(ordinals[k]);
        } catch (const JitError &error) {
            if (ordinals.size() == 1) throw;
            gpus[k].why_not = error.what();
        }
    });
    return gpus;
}

} // namespace

std::vector<AwaitedGpu> gpus_of(const Options &options) {
    const GpuSight first = first_gpu_in_sight();
    if (!first.gpu) throw JitError(JitFailure::unavailable, first.why_not);
    std::vector<int> ordinals = options.gpus;
    if (options.all_gpus) {
        ordinals.resize(static_cast<std::size_t>(driver_status().gpus));
        std::iota(ordinals.begin(), ordinals.end(), 0);
    }
    if (ordinals.empty()) return {{*first.gpu, the_gpu}};
    for (const int ordinal : ordinals)
        if (ordinal >= driver_status().gpus)
            throw Error(PERM_BAD_OPTION, formatted("device names GPU {}: there are {}, counted from 0",
                                                   ordinal, driver_status().gpus));
    std::vector<AwaitedGpu> gpus;
    const std::vector<GpuChoice> all = opened(ordinals);
    for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k].gpu)
            gpus.emplace_back(all[k].gpu);
        else
            log_warning(formatted("GPU {} is left out: {}", ordinals[k], all[k].why_not));
    if (gpus.empty()) throw JitError(JitFailure::unavailable, "none of the GPUs can be used");
    return gpus;
}

std::vector<GpuProperties> gpus_here() {
    std::vector<GpuProperties> gpus;
    if (!first_gpu().gpu) return gpus;
    for (int ordinal = 0; ordinal < driver_status().gpus; ++ordinal) try {
            gpus.push_back(Gpu::open(ordinal)->properties());
        } catch (const JitError &error) {
            log_warning(formatted("GPU {} is left out: {}", ordinal, error.what()));
        }
    return gpus;
}

namespace {

perm_status status_of(JitFailure failure) {
    switch (failure) {
    case JitFailure::unavailable:
        return PERM_UNSUPPORTED;
    case JitFailure::out_of_memory:
        return PERM_OUT_OF_MEMORY;
    default:
        return PERM_GPU_FAILED;
    }
}

} // namespace

void with_gpu_errors(const std::function<void()> &work) {
    try {
        work();
    } catch (const JitError &error) {
        throw Error(status_of(error.failure()), error.what());
    }
}

void prepare_gpus(const Options &options) {
    if (options.machine || !first_gpu().gpu) return;
    try {
        for (const AwaitedGpu &gpu : gpus_of(options)) gpu.wait();
    } catch (const JitError &) { // told where it is executed
    }
}

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
