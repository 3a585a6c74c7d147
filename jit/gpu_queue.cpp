#include "jit/gpu_queue.hpp"

namespace libperm {

void GpuQueue::load(const KernelRecipe &recipe) {
    KernelOrigin origin;
    module_ = load_kernels(gpu_, recipe, cache_, origin);
    kernels_.clear();
    blocks_at_once_.clear();
    compile_seconds_ += origin.seconds;
    kernels_compiled_ += origin.from == KernelOrigin::compiler;
}

DeviceAddress GpuQueue::allocate(std::size_t bytes) {
    GpuMemory memory(gpu_, bytes);
    const DeviceAddress address = memory.address();
    memory_.emplace(address, std::move(memory));
    return address;
}

void GpuQueue::release(DeviceAddress address) noexcept { memory_.erase(address); }

void GpuQueue::copy_in(DeviceAddress to, const void *from, std::size_t bytes) {
    stream_.copy_in(to, from, bytes);
}

void GpuQueue::copy_out(void *to, DeviceAddress from, std::size_t bytes) {
    stream_.copy_out(to, from, bytes);
}

const GpuKernel &GpuQueue::kernel(const char *entry) {
    const auto known = kernels_.find(entry);
    return known != kernels_.end() ? known->second
                                   : kernels_.emplace(entry, GpuKernel(module_, entry)).first->second;
}

unsigned GpuQueue::blocks_at_once(const char *entry, unsigned threads) {
    const auto [it, is_new] = blocks_at_once_.try_emplace(entry, 0);
    if (is_new)
        it->second =
            static_cast<unsigned>(kernel(entry).blocks_per_multiprocessor(static_cast<int>(threads), 0) *
                                  gpu_->properties().multiprocessors);
    return it->second;
}

void GpuQueue::launch(const char *entry, unsigned blocks, unsigned threads,
                      std::span<void *const> arguments) {
    kernel(entry).launch(stream_, blocks, threads, 0, arguments);
}

} // namespace libperm
