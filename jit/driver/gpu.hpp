// The GPUs of this machine by CUDA's driver API, which is loaded when it is first asked for; what is taken
// from it is owned by objects and given back. All of it throws JitError.
#pragma once

#include "jit/driver/gpu_properties.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace libperm {

// What was found of the driver; never throws. Looked for once a process.
struct DriverStatus {
    bool found = false;  // the driver, and at least one GPU
    std::string path;    // of the driver's library
    std::string version; // of CUDA that it supports: "13.0"
    std::string why_not; // if not found: what was looked for, and what the driver said
    int gpus = 0;
};
const DriverStatus &driver_status();

// A GPU and its primary context, retained while the object or anything made on it lives.
class Gpu {
  public:
    // The same object for all who ask while somebody holds it. Throws JitError (unavailable).
    static std::shared_ptr<const Gpu> open(int ordinal);
    // What the driver tells of it without a context, in no time. Throws JitError (unavailable).
    static GpuProperties look_at(int ordinal);
    ~Gpu();
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    const GpuProperties &properties() const { return properties_; }
    std::int64_t free_bytes() const;

    // Makes its context the calling thread's, and restores the caller's at its end.
    class Current {
      public:
        explicit Current(const Gpu &gpu);
        ~Current();
        Current(const Current &) = delete;
        Current &operator=(const Current &) = delete;
    };

  private:
    explicit Gpu(int ordinal);
    GpuProperties properties_;
    int device_ = 0;
    void *context_ = nullptr;
    friend class Current;
};

// A GPU that may still be being opened: kernels are compiled for it meanwhile.
struct AwaitedGpu {
    GpuProperties properties;
    std::function<std::shared_ptr<const Gpu>()> wait; // until it is open, for any thread; throws JitError

    AwaitedGpu(const GpuProperties &of, std::function<std::shared_ptr<const Gpu>()> until_open)
        : properties(of), wait(std::move(until_open)) {}
    AwaitedGpu(const std::shared_ptr<const Gpu> &open) // NOLINT(google-explicit-constructor)
        : AwaitedGpu(open->properties(), [open] { return open; }) {}
};

// The following make their GPU current for their own calls; any thread may use them, one at a time.

class GpuMemory { // throws JitError (out_of_memory) when there is not enough
  public:
    GpuMemory(std::shared_ptr<const Gpu> gpu, std::size_t bytes); // 0 bytes: address 0
    ~GpuMemory();
    GpuMemory(GpuMemory &&other) noexcept
        : gpu_(std::move(other.gpu_)), bytes_(other.bytes_), address_(std::exchange(other.address_, 0)) {}
    GpuMemory(const GpuMemory &) = delete;
    GpuMemory &operator=(const GpuMemory &) = delete;
    std::uint64_t address() const { return address_; }
    std::size_t bytes() const { return bytes_; }

  private:
    std::shared_ptr<const Gpu> gpu_;
    std::size_t bytes_;
    std::uint64_t address_ = 0;
};

class GpuHostMemory { // of the host, page-locked: copied at full speed, while others compute
  public:
    GpuHostMemory(std::shared_ptr<const Gpu> gpu, std::size_t bytes); // 0 bytes: a null pointer
    ~GpuHostMemory();
    GpuHostMemory(GpuHostMemory &&other) noexcept
        : gpu_(std::move(other.gpu_)), memory_(std::exchange(other.memory_, nullptr)) {}
    GpuHostMemory(const GpuHostMemory &) = delete;
    GpuHostMemory &operator=(const GpuHostMemory &) = delete;
    void *get() const { return memory_; }

  private:
    std::shared_ptr<const Gpu> gpu_;
    void *memory_ = nullptr;
};

class GpuStream { // does not wait for the legacy default stream
  public:
    // An urgent one's blocks of threads go before those of others that have not begun.
    explicit GpuStream(std::shared_ptr<const Gpu> gpu, bool is_urgent = false);
    ~GpuStream();
    GpuStream(const GpuStream &) = delete;
    GpuStream &operator=(const GpuStream &) = delete;
    // Returns when `from` may change; at once if it is page-locked, and then it may after wait().
    void copy_in(std::uint64_t to, const void *from, std::size_t bytes);
    void copy_out(void *to, std::uint64_t from, std::size_t bytes); // when it is there
    void fetch(void *to, std::uint64_t from, std::size_t bytes);    // it is there after wait()
    void copy_in(const GpuMemory &to, const void *from, std::size_t bytes) {
        copy_in(to.address(), from, bytes);
    }
    void copy_out(void *to, const GpuMemory &from, std::size_t bytes) { copy_out(to, from.address(), bytes); }
    void wait() const; // for all that was put into it
    void *handle() const { return handle_; }

  private:
    std::shared_ptr<const Gpu> gpu_;
    void *handle_ = nullptr;
};

// A loaded image (cubin or PTX) and its kernels.
class GpuModule {
  public:
    GpuModule(std::shared_ptr<const Gpu> gpu, const std::string &image);
    ~GpuModule();
    GpuModule(const GpuModule &) = delete;
    GpuModule &operator=(const GpuModule &) = delete;
    const std::shared_ptr<const Gpu> &gpu() const { return gpu_; }
    void *function(const char *name) const;

    // A driver loads a kernel when it is first asked for: one that finds no memory then fails ever after
    // (driver 580: CUDA_ERROR_UNKNOWN), so that the module has to be loaded anew.
    void note_failure() const { has_failed_ = true; }
    bool has_failed() const { return has_failed_; }

  private:
    std::shared_ptr<const Gpu> gpu_;
    void *handle_ = nullptr;
    mutable std::atomic<bool> has_failed_{false};
};

// One kernel of a module, which it keeps alive.
class GpuKernel {
  public:
    GpuKernel(std::shared_ptr<const GpuModule> module, const char *name);

    // Lets a block have so many bytes of dynamic shared memory (beyond 48 KB this must be said).
    void allow_shared(std::size_t bytes) const;
    // cuOccupancyMaxActiveBlocksPerMultiprocessor.
    int blocks_per_multiprocessor(int threads, std::size_t shared_bytes) const;

    // `arguments`: pointers to the kernel's parameters, in their order. Returns at once.
    void launch(const GpuStream &stream, unsigned blocks, unsigned threads, std::size_t shared_bytes,
                std::span<void *const> arguments) const;
    const Gpu &gpu() const { return *module_->gpu(); }

  private:
    void check(int result, const std::string &call) const; // what fails is noted of the module

    std::shared_ptr<const GpuModule> module_;
    void *handle_ = nullptr;
};

} // namespace libperm
