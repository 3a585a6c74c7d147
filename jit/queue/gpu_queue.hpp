// Streams of a GPU as a device's queue.
#pragma once

#include "jit/compile/disk_cache.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/queue/device_queue.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace libperm {

class GpuQueue final : public DeviceQueue {
  public:
    // Waits for the GPU when it is first needed, which for compiling it is not.
    GpuQueue(AwaitedGpu gpu, CacheSettings cache) : awaited_(std::move(gpu)), cache_(std::move(cache)) {}

    using DeviceQueue::load;
    void load(std::span<const KernelRecipe> recipes) override; // those to be compiled at the same time
    DeviceAddress allocate(std::size_t bytes) override;
    void release(DeviceAddress address) noexcept override;
    std::int64_t free_bytes() override { return gpu()->free_bytes(); }
    void copy_in(DeviceAddress to, const void *from, std::size_t bytes) override;
    void copy_out(void *to, DeviceAddress from, std::size_t bytes) override;
    void *allocate_host(std::size_t bytes) override;
    void release_host(void *memory) noexcept override;
    void send(DeviceAddress to, const void *from, std::size_t bytes) override { copy_in(to, from, bytes); }
    void fetch(void *to, DeviceAddress from, std::size_t bytes) override;
    void use_stream(std::size_t k) override;
    void wait() override { stream().wait(); }
    DeviceLimits limits() const override;
    void allow_shared(const char *entry, std::size_t bytes) override;
    unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared) override;
    void launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                std::size_t shared) override;

    double compile_seconds() const { return compile_seconds_; } // from requests to loaded kernels
    int kernels_compiled() const { return kernels_compiled_; }

  private:
    const std::shared_ptr<const Gpu> &gpu();
    GpuStream &stream();

    const AwaitedGpu awaited_;
    std::shared_ptr<const Gpu> gpu_; // null: not needed so far
    CacheSettings cache_;
    std::map<DeviceAddress, GpuMemory> memory_;
    std::map<void *, GpuHostMemory> host_memory_;
    std::map<std::string, GpuKernel> kernels_; // by entry
    std::deque<GpuStream> streams_;            // after memory and kernels: destroyed before them
    std::size_t stream_ = 0;                   // that in use
    using Launch = std::tuple<std::string, unsigned, std::size_t>; // entry, threads, shared memory of a block
    std::map<Launch, unsigned> blocks_at_once_;
    double compile_seconds_ = 0;
    int kernels_compiled_ = 0;
};

} // namespace libperm
