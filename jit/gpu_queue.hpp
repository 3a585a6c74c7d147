// A stream of a GPU as a device's queue.
#pragma once

#include "jit/device_queue.hpp"

#include <map>
#include <memory>
#include <string>

namespace libperm {

class GpuQueue final : public DeviceQueue {
  public:
    GpuQueue(std::shared_ptr<const Gpu> gpu, CacheSettings cache)
        : gpu_(std::move(gpu)), cache_(std::move(cache)), stream_(gpu_) {}

    using DeviceQueue::load;
    void load(std::span<const KernelRecipe> recipes) override; // those to be compiled at the same time
    DeviceAddress allocate(std::size_t bytes) override;
    void release(DeviceAddress address) noexcept override;
    std::int64_t free_bytes() override { return gpu_->free_bytes(); }
    void copy_in(DeviceAddress to, const void *from, std::size_t bytes) override;
    void copy_out(void *to, DeviceAddress from, std::size_t bytes) override;
    unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared) override;
    void launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                std::size_t shared) override;

    double compile_seconds() const { return compile_seconds_; } // from requests to loaded kernels
    int kernels_compiled() const { return kernels_compiled_; }

  private:
    std::shared_ptr<const Gpu> gpu_;
    CacheSettings cache_;
    std::map<DeviceAddress, GpuMemory> memory_;
    std::map<std::string, GpuKernel> kernels_; // by entry
    GpuStream stream_; // after memory and kernels: destroyed, and so done, before them
    std::map<std::pair<std::string, std::size_t>, unsigned> blocks_at_once_;
    double compile_seconds_ = 0;
    int kernels_compiled_ = 0;
};

} // namespace libperm
