// What an engine needs of a device whose work is done in order: memory, copies, kernels; and, for who has
// pieces that need not wait for each other, a few such orders side by side. A GPU's is
// gpu_queue; the tests play one on the host, so that whole engines are run without a GPU.
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

using DeviceAddress = std::uint64_t;

// What a block of threads can be.
struct DeviceLimits {
    std::string device;           // its name
    unsigned warp = 32;           // threads that go together
    std::size_t shared_bytes = 0; // of dynamic shared memory at most, where a kernel is allowed them
};

class DeviceQueue { // throws JitError
  public:
    DeviceQueue() = default;
    virtual ~DeviceQueue() = default;
    DeviceQueue(const DeviceQueue &) = delete;
    DeviceQueue &operator=(const DeviceQueue &) = delete;

    // Adds their entries to those that can be launched.
    virtual void load(std::span<const KernelRecipe> recipes) = 0;
    void load(const KernelRecipe &recipe) { load({&recipe, 1}); }

    virtual DeviceAddress allocate(std::size_t bytes) = 0;    // 256-byte aligned; JitFailure::out_of_memory
    virtual void release(DeviceAddress address) noexcept = 0; // after all that may use it is done: it waits
    virtual std::int64_t free_bytes() = 0;

    virtual void copy_in(DeviceAddress to, const void *from, std::size_t bytes) = 0; // `from` may change then
    virtual void copy_out(void *to, DeviceAddress from, std::size_t bytes) = 0; // waits for all before, too

    // Page-locked memory of the host; release_host() waits for all that may use it.
    virtual void *allocate_host(std::size_t bytes) = 0; // JitFailure::out_of_memory
    virtual void release_host(void *memory) noexcept = 0;
    // Copies to and from it, done while the caller goes on: until wait() it is not to be touched.
    virtual void send(DeviceAddress to, const void *from, std::size_t bytes) = 0;
    virtual void fetch(void *to, DeviceAddress from, std::size_t bytes) = 0;
    // What follows is in order with, and wait() is for, what was put into this stream: 0 unless told. What is
    // put into the urgent one begins before what waits in others.
    static constexpr std::size_t urgent_stream = 3;
    virtual void use_stream(std::size_t k) = 0;
    virtual void wait() = 0;

    virtual DeviceLimits limits() const = 0;
    // Lets blocks have so many bytes of dynamic shared memory, which must be said before they are launched
    // with any. Of the function, which other calls launch at the same time: all say the most it may need.
    virtual void allow_shared(const char *entry, std::size_t bytes) = 0;
    // Threads of a block, for kernels that take any number of warps: a power of two. The tests take few.
    virtual unsigned block_threads(unsigned most) const { return most; }
    // Blocks of so many threads, with so many bytes of dynamic shared memory, that run at the same time.
    virtual unsigned blocks_at_once(const char *entry, unsigned threads, std::size_t shared = 0) = 0;
    // `arguments`: pointers to the kernel's parameters, which may change when it returns.
    virtual void launch(const char *entry, unsigned blocks, unsigned threads,
                        std::span<void *const> arguments, std::size_t shared = 0) = 0;
};

// A piece of its memory.
class DeviceArray {
  public:
    explicit DeviceArray(DeviceQueue &queue) : queue_(&queue) {}
    DeviceArray(DeviceArray &&other) noexcept
        : queue_(other.queue_),
          address_(std::exchange(other.address_, 0)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    DeviceArray &operator=(DeviceArray &&other) noexcept {
        std::swap(queue_, other.queue_);
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DeviceArray() { release(); }

    // Room for so many bytes at least; what was there is lost if it has to grow.
    void reserve(std::size_t bytes) {
        if (bytes <= bytes_) return;
        release();
        address_ = queue_->allocate(bytes);
        bytes_ = bytes;
    }
    void release() noexcept {
        if (bytes_ != 0) queue_->release(address_);
        bytes_ = 0;
        address_ = 0;
    }
    DeviceAddress address() const { return address_; }
    std::size_t bytes() const { return bytes_; }

  private:
    DeviceQueue *queue_;
    DeviceAddress address_ = 0;
    std::size_t bytes_ = 0;
};

// Page-locked numbers of the host.
template <class T> class HostArray {
  public:
    HostArray(DeviceQueue &queue, std::size_t count)
        : queue_(&queue), numbers_(static_cast<T *>(queue.allocate_host(count * sizeof(T)))) {}
    HostArray(HostArray &&other) noexcept
        : queue_(other.queue_), numbers_(std::exchange(other.numbers_, nullptr)) {}
    HostArray(const HostArray &) = delete;
    HostArray &operator=(const HostArray &) = delete;
    ~HostArray() {
        if (numbers_) queue_->release_host(numbers_);
    }
    T *get() const { return numbers_; }

  private:
    DeviceQueue *queue_;
    T *numbers_;
};

// The devices that share a run's work.

// A queue for each. The first call opens them: they are asked for where there is work left to do.
struct DeviceQueues {
    std::function<std::vector<DeviceQueue *>()> all; // one at least
    DeviceQueues(DeviceQueue &one) : all([&one] { return std::vector{&one}; }) {}
    explicit DeviceQueues(std::function<std::vector<DeviceQueue *>()> open) : all(std::move(open)) {}
    std::size_t count() const { return all().size(); }
    DeviceQueue &operator[](std::size_t k) const { return *all()[k]; }
};

} // namespace libperm
