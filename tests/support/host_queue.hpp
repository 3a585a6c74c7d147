// A device played on the host: memory is the host's, kernels are compiled by the C++ compiler and their
// threads take turns.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "tests/support/host_kernel.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

class HostQueue final : public libperm::DeviceQueue {
  public:
    // `bytes`: of its memory.
    explicit HostQueue(std::int64_t bytes = std::int64_t{1} << 40) : free_(bytes) {}
    ~HostQueue() override;

    // Without a compiler it announces a skip, and load() throws JitError (unavailable).
    using libperm::DeviceQueue::load;
    void load(std::span<const libperm::KernelRecipe> recipes) override;
    libperm::DeviceAddress allocate(std::size_t bytes) override; // filled with NaNs
    void release(libperm::DeviceAddress address) noexcept override;
    std::int64_t free_bytes() override { return free_; }
    void copy_in(libperm::DeviceAddress to, const void *from, std::size_t bytes) override;
    void copy_out(void *to, libperm::DeviceAddress from, std::size_t bytes) override;
    void *allocate_host(std::size_t bytes) override;
    void release_host(void *memory) noexcept override;
    void send(libperm::DeviceAddress to, const void *from, std::size_t bytes) override {
        copy_in(to, from, bytes);
    }
    void fetch(void *to, libperm::DeviceAddress from, std::size_t bytes) override; // done by wait()
    void use_stream(std::size_t k) override { stream_ = k; }
    void wait() override;
    unsigned block_threads(unsigned most) const override { return most < 64 ? most : 64; }
    unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared) override;
    void launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                std::size_t shared) override;

    int launches() const { return launches_; }
    bool is_whole() const; // nothing was written beside what was allocated

  private:
    std::map<libperm::DeviceAddress, std::size_t> allocated_;
    std::int64_t free_;
    std::map<std::string, HostKernel> compiled_;       // by key
    std::map<std::string, const HostKernel *> kernel_; // by entry
    std::size_t stream_ = 0;
    std::map<std::size_t, std::vector<std::function<void()>>> fetches_; // by stream
    int launches_ = 0;
};
