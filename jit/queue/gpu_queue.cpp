#include "jit/queue/gpu_queue.hpp"

#include "jit/compile/kernels.hpp"
#include "jit/driver/jit_error.hpp"

#include <chrono>
#include <oneapi/tbb/parallel_for.h>
#include <vector>

namespace libperm {

const std::shared_ptr<const Gpu> &GpuQueue::gpu() {
    if (!gpu_) gpu_ = awaited_.wait();
    return gpu_;
}

GpuStream &GpuQueue::stream() {
    while (streams_.size() <= stream_) streams_.emplace_back(gpu(), streams_.size() == urgent_stream);
    return streams_[stream_];
}

void GpuQueue::load(std::span<const KernelRecipe> recipes) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    std::vector<KernelOrigin> origins(recipes.size());
    std::vector<std::shared_ptr<const GpuModule>> modules(recipes.size());
    tbb::parallel_for(std::size_t{0}, recipes.size(), [&](std::size_t k) {
        modules[k] = load_kernels(awaited_, recipes[k], cache_, origins[k]);
    });
    for (std::size_t k = 0; k < recipes.size(); ++k) {
        for (const std::string &entry : recipes[k].entries) {
            kernels_.insert_or_assign(entry, GpuKernel(modules[k], entry.c_str()));
            std::erase_if(blocks_at_once_,
                          [&](const auto &known) { return std::get<0>(known.first) == entry; });
        }
        kernels_compiled_ += origins[k].from == KernelOrigin::compiler;
    }
    compile_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

DeviceAddress GpuQueue::allocate(std::size_t bytes) {
    GpuMemory memory(gpu(), bytes);
    const DeviceAddress address = memory.address();
    memory_.emplace(address, std::move(memory));
    return address;
}

void GpuQueue::release(DeviceAddress address) noexcept { memory_.erase(address); }

void GpuQueue::copy_in(DeviceAddress to, const void *from, std::size_t bytes) {
    stream().copy_in(to, from, bytes);
}

void GpuQueue::copy_out(void *to, DeviceAddress from, std::size_t bytes) {
    stream().copy_out(to, from, bytes);
}

void *GpuQueue::allocate_host(std::size_t bytes) {
    GpuHostMemory memory(gpu(), bytes);
    void *const address = memory.get();
    host_memory_.emplace(address, std::move(memory));
    return address;
}

void GpuQueue::release_host(void *memory) noexcept {
    for (const GpuStream &stream : streams_) {
        try {
            stream.wait();
        } catch (const JitError &) {
            continue; // it failed, and does nothing any more
        }
    }
    host_memory_.erase(memory);
}

void GpuQueue::fetch(void *to, DeviceAddress from, std::size_t bytes) { stream().fetch(to, from, bytes); }

void GpuQueue::use_stream(std::size_t k) { stream_ = k; }

DeviceLimits GpuQueue::limits() const {
    const GpuProperties &gpu = awaited_.properties;
    return {gpu.name, static_cast<unsigned>(gpu.warp), gpu.shared_bytes};
}

void GpuQueue::allow_shared(const char *entry, std::size_t bytes) { kernels_.at(entry).allow_shared(bytes); }

unsigned GpuQueue::blocks_at_once(const char *entry, unsigned threads, std::size_t shared) {
    const Launch launch{entry, threads, shared};
    if (const auto known = blocks_at_once_.find(launch); known != blocks_at_once_.end()) return known->second;
    const int of_multiprocessor =
        kernels_.at(entry).blocks_per_multiprocessor(static_cast<int>(threads), shared);
    return blocks_at_once_[launch] =
               static_cast<unsigned>(of_multiprocessor * awaited_.properties.multiprocessors);
}

void GpuQueue::launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                      std::size_t shared) {
    kernels_.at(entry).launch(stream(), blocks, threads, shared, arguments);
}

} // namespace libperm
