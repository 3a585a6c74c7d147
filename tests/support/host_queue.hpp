// A device played on the host: memory is the host's, kernels are compiled by the C++ compiler and their
// threads take turns. What a GPU's driver refuses it refuses as well.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "tests/support/host_kernel.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

// What is played; may be changed between runs.
struct HostDevice {
    unsigned warp = 1;
    std::size_t shared_bytes = HostKernel::most_shared; // of a block at most
    unsigned block_threads = 64; // at most, of kernels that take any number; a power of two
    // Blocks at once; none where the shared memory is too much.
    std::function<unsigned(unsigned threads, std::size_t shared)> blocks = [](unsigned, std::size_t) {
        return 3U;
    };
    int launches_left = 1 << 30; // then it fails
};

struct HostLaunch {
    std::string entry;
    unsigned blocks, threads;
    std::size_t shared;
    std::span<void *const> arguments; // pointers to the parameters

    template <class T> T argument(std::size_t k) const { return *static_cast<const T *>(arguments[k]); }
};

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
    void send(libperm::DeviceAddress to, const void *from, std::size_t bytes) override;
    void fetch(void *to, libperm::DeviceAddress from, std::size_t bytes) override; // done by wait()
    void use_stream(std::size_t k) override { stream_ = k; }
    void wait() override;
    libperm::DeviceLimits limits() const override { return {"the host", device.warp, device.shared_bytes}; }
    void allow_shared(const char *entry, std::size_t bytes) override;
    unsigned block_threads(unsigned most) const override { return std::min(most, device.block_threads); }
    unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared) override;
    void launch(const char *entry, unsigned blocks, unsigned threads, std::span<void *const> arguments,
                std::size_t shared) override;

    HostDevice device;
    // Called before each launch: what is on the device may be looked at, and changed.
    std::function<void(const HostLaunch &)> before_launch;

    int launches() const { return launches_; }
    bool is_whole() const; // nothing was written beside what was allocated

    // `count` of them at an address, which lie in what was allocated.
    template <class T> std::span<T> on_device(libperm::DeviceAddress address, std::size_t count) const {
        check_inside(address, count * sizeof(T));
        return {reinterpret_cast<T *>(address), count}; // NOLINT(performance-no-int-to-ptr)
    }

  private:
    struct Entry {
        const HostKernel *kernel = nullptr;
        std::size_t shared = 0; // that blocks are allowed
    };
    void arrive(); // what was sent in this stream
    void check_inside(libperm::DeviceAddress address, std::size_t bytes) const;
    void check_launch(const char *entry, unsigned blocks, unsigned threads, std::size_t shared) const;

    std::map<libperm::DeviceAddress, std::size_t> allocated_;
    std::int64_t free_;
    std::map<std::string, HostKernel> compiled_; // by key
    std::map<std::string, Entry> entry_;
    std::size_t stream_ = 0;
    std::map<std::size_t, std::vector<std::function<void()>>> sends_, fetches_; // by stream
    int launches_ = 0;
};
