#include "jit/driver/gpu.hpp"

#include "jit/driver/cuda_libraries.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/text/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

namespace libperm {
namespace {

// The driver and what was found of it.
struct Loaded {
    const std::string chosen = trusted_environment("PERM_CUDA_DRIVER");
    SharedLibrary library{chosen.empty() ? std::vector<std::string>{"libcuda.so.1", "libcuda.so"}
                                         : std::vector{chosen}};
    const cuda::Driver driver{library};
    DriverStatus status;
};

// "CUDA_ERROR_INVALID_VALUE (invalid argument)". The toolkit's stub of the driver knows no texts.
std::string text_of(const cuda::Driver &driver, cuda::Result result) {
    const char *name = nullptr, *text = nullptr;
    (void)driver.cuGetErrorName(result, &name);
    (void)driver.cuGetErrorString(result, &text);
    if (name != nullptr) return formatted("{} ({})", name, text != nullptr ? text : "no description");
    if (result == cuda::error_stub_library)
        return "CUDA_ERROR_STUB_LIBRARY (this is the toolkit's stand-in for a driver to link with)";
    return formatted("error {}", result);
}

// Fills in the status as far as it gets, and returns what stopped it, or "".
std::string start_driver(Loaded &loaded) {
    const cuda::Driver &driver = loaded.driver;
    DriverStatus &status = loaded.status;
    status.path = loaded.library.path();
    if (!loaded.library.complete())
        return (loaded.chosen.empty() ? "no NVIDIA driver: "
                                      : "no NVIDIA driver where PERM_CUDA_DRIVER says: ") +
               loaded.library.why_not();

    const auto failed = [&](const char *call, cuda::Result result) {
        return formatted("no NVIDIA GPU: {} of {}: {}", call, status.path, text_of(driver, result));
    };
    int version = 0;
    if (driver.cuDriverGetVersion(&version) == 0)
        status.version = formatted("{}.{}", version / 1000, version % 1000 / 10);
    if (const auto result = driver.cuInit(0); result != 0) return failed("cuInit", result);
    if (const auto result = driver.cuDeviceGetCount(&status.gpus); result != 0)
        return failed("cuDeviceGetCount", result);
    return status.gpus > 0 ? "" : formatted("no NVIDIA GPU: the driver {} sees none", status.path);
}

// Made once and never destroyed: GPUs may be given back at the process's very end.
const Loaded &loaded_driver() {
    static const Loaded &once = [&]() -> Loaded & {
        auto &loaded = *new Loaded;
        loaded.status.why_not = start_driver(loaded);
        loaded.status.found = loaded.status.why_not.empty();
        return loaded;
    }();
    return once;
}

// Whoever has a GPU has a driver.
const cuda::Driver &driver() { return loaded_driver().driver; }

[[noreturn]] void fail(cuda::Result result, const std::string &call) {
    const bool memory = result == cuda::error_out_of_memory;
    const bool too_old =
        result == cuda::error_no_binary_for_gpu || result == cuda::error_unsupported_ptx_version;
    throw JitError(memory    ? JitFailure::out_of_memory
                   : too_old ? JitFailure::unavailable
                             : JitFailure::device,
                   formatted("{}: {}", call, text_of(driver(), result)));
}

void check(cuda::Result result, const char *call) {
    if (result != 0) fail(result, call);
}

// For destructors: there may be no driver any more that could do it.
template <class Body> void try_on(const Gpu &gpu, const Body &body) noexcept {
    try {
        const Gpu::Current current(gpu);
        body();
    } catch (...) {
        return;
    }
}

// Single-precision results a clock of one multiprocessor.
int fp32_lanes(int capability) {
    return capability == 60 || capability / 10 == 7 || capability == 80 ? 64 : 128;
}

GpuProperties read_properties(cuda::Device device, int ordinal) {
    const auto attribute = [&](cuda::DeviceAttribute which) {
        int value = 0;
        check(driver().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
        return value;
    };
    GpuProperties it;
    std::array<char, 256> name{};
    check(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
          "cuDeviceGetName");
    std::size_t memory = 0;
    check(driver().cuDeviceTotalMem_v2(&memory, device), "cuDeviceTotalMem_v2");
    it.ordinal = ordinal;
    it.name = name.data();
    it.compute_capability = 10 * attribute(cuda::capability_major) + attribute(cuda::capability_minor);
    it.multiprocessors = attribute(cuda::multiprocessor_count);
    const int ratio = std::max(1, attribute(cuda::single_to_double_ratio));
    it.fp64_lanes = std::max(1, fp32_lanes(it.compute_capability) / ratio);
    it.registers = attribute(cuda::registers_per_multiprocessor);
    it.threads = attribute(cuda::threads_per_multiprocessor);
    it.warp = attribute(cuda::warp_size);
    it.shared_bytes = static_cast<std::size_t>(attribute(cuda::shared_bytes_per_block_opt_in));
    it.clock_hz = 1e3 * attribute(cuda::clock_khz);
    it.memory_bytes = static_cast<std::int64_t>(memory);
    constexpr double unknown = 5e11; // where the driver does not say: of a middling card
    it.memory_bandwidth = 2e3 * attribute(cuda::memory_clock_khz) * attribute(cuda::memory_bus_bits) / 8;
    if (it.memory_bandwidth <= 0) it.memory_bandwidth = unknown;
    it.l2_bytes = attribute(cuda::l2_cache_bytes);
    return it;
}

cuda::Device device_of(int ordinal) {
    cuda::Device device = 0;
    check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
    return device;
}

struct OpenGpu {
    std::mutex mutex; // held while it is opened
    std::weak_ptr<const Gpu> gpu;
};

void require_ordinal(int ordinal) {
    const DriverStatus &status = driver_status();
    if (!status.found) throw JitError(JitFailure::unavailable, status.why_not);
    if (ordinal < 0 || ordinal >= status.gpus)
        throw JitError(
            JitFailure::unavailable,
            formatted("there is no GPU {}: the driver sees {}, numbered from 0", ordinal, status.gpus));
}

// Whatever a GPU does not do when it is begun with makes it unavailable, but for want of memory.
template <class Work> auto as_unavailable(int ordinal, const Work &work) {
    try {
        return work();
    } catch (const JitError &error) {
        if (error.failure() == JitFailure::out_of_memory) throw;
        throw JitError(JitFailure::unavailable,
                       formatted("GPU {} cannot be used: {}", ordinal, error.what()));
    }
}

} // namespace

const DriverStatus &driver_status() { return loaded_driver().status; }

std::shared_ptr<const Gpu> Gpu::open(int ordinal) {
    require_ordinal(ordinal);
    static auto &open = *new std::vector<OpenGpu>(static_cast<std::size_t>(driver_status().gpus));
    OpenGpu &known = open[static_cast<std::size_t>(ordinal)];
    const std::lock_guard lock(known.mutex);
    auto gpu = known.gpu.lock();
    if (gpu) return gpu;
    gpu = as_unavailable(ordinal, [&] { return std::shared_ptr<const Gpu>(new Gpu(ordinal)); });
    known.gpu = gpu;
    return gpu;
}

GpuProperties Gpu::look_at(int ordinal) {
    require_ordinal(ordinal);
    return as_unavailable(ordinal, [&] { return read_properties(device_of(ordinal), ordinal); });
}

Gpu::Gpu(int ordinal) : device_(device_of(ordinal)) {
    properties_ = read_properties(device_, ordinal);
    check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
}

Gpu::~Gpu() { (void)driver().cuDevicePrimaryCtxRelease_v2(device_); }

std::int64_t Gpu::free_bytes() const {
    const Current current(*this);
    std::size_t free = 0, total = 0;
    check(driver().cuMemGetInfo_v2(&free, &total), "cuMemGetInfo_v2");
    return static_cast<std::int64_t>(free);
}

Gpu::Current::Current(const Gpu &gpu) {
    check(driver().cuCtxPushCurrent_v2(gpu.context_), "cuCtxPushCurrent_v2");
}

Gpu::Current::~Current() {
    cuda::Context popped = nullptr;
    (void)driver().cuCtxPopCurrent_v2(&popped);
}

GpuMemory::GpuMemory(std::shared_ptr<const Gpu> gpu, std::size_t bytes)
    : gpu_(std::move(gpu)), bytes_(bytes) {
    if (bytes == 0) return;
    const Gpu::Current current(*gpu_);
    cuda::Address address = 0;
    if (const auto result = driver().cuMemAlloc_v2(&address, bytes); result != 0) {
        std::size_t free = 0, total = 0;
        (void)driver().cuMemGetInfo_v2(&free, &total);
        fail(result, formatted("cuMemAlloc_v2 of {} bytes on GPU {} ({}), of whose {} bytes {} are free",
                               bytes, gpu_->properties().ordinal, gpu_->properties().name, total, free));
    }
    address_ = address;
}

GpuMemory::~GpuMemory() {
    if (address_ != 0) try_on(*gpu_, [&] { (void)driver().cuMemFree_v2(address_); });
}

GpuHostMemory::GpuHostMemory(std::shared_ptr<const Gpu> gpu, std::size_t bytes) : gpu_(std::move(gpu)) {
    if (bytes == 0) return;
    const Gpu::Current current(*gpu_);
    if (const auto result = driver().cuMemHostAlloc(&memory_, bytes, 0); result != 0)
        fail(result, formatted("cuMemHostAlloc of {} bytes", bytes));
}

GpuHostMemory::~GpuHostMemory() {
    if (memory_ != nullptr) try_on(*gpu_, [&] { (void)driver().cuMemFreeHost(memory_); });
}

GpuStream::GpuStream(std::shared_ptr<const Gpu> gpu, bool is_urgent) : gpu_(std::move(gpu)) {
    const Gpu::Current current(*gpu_);
    const int priority = is_urgent ? -1 : 0; // lower goes first
    check(driver().cuStreamCreateWithPriority(&handle_, cuda::stream_non_blocking, priority),
          "cuStreamCreateWithPriority");
}

GpuStream::~GpuStream() {
    try_on(*gpu_, [&] { (void)driver().cuStreamDestroy_v2(handle_); });
}

void GpuStream::copy_in(std::uint64_t to, const void *from, std::size_t bytes) {
    if (bytes == 0) return;
    const Gpu::Current current(*gpu_);
    check(driver().cuMemcpyHtoDAsync_v2(to, from, bytes, handle_), "cuMemcpyHtoDAsync_v2");
}

void GpuStream::copy_out(void *to, std::uint64_t from, std::size_t bytes) {
    fetch(to, from, bytes);
    wait();
}

void GpuStream::fetch(void *to, std::uint64_t from, std::size_t bytes) {
    if (bytes == 0) return;
    const Gpu::Current current(*gpu_);
    check(driver().cuMemcpyDtoHAsync_v2(to, from, bytes, handle_), "cuMemcpyDtoHAsync_v2");
}

void GpuStream::wait() const {
    const Gpu::Current current(*gpu_);
    check(driver().cuStreamSynchronize(handle_), "cuStreamSynchronize");
}

GpuModule::GpuModule(std::shared_ptr<const Gpu> gpu, const std::string &image) : gpu_(std::move(gpu)) {
    const Gpu::Current current(*gpu_);
    std::array<char, 8192> log{};
    std::array options{cuda::error_log, cuda::error_log_bytes};
    std::array<void *, 2> values{log.data(),
                                 std::bit_cast<void *>(log.size() - 1)}; // a number, not an address
    const auto result =
        driver().cuModuleLoadDataEx(&handle_, image.c_str(), 2, options.data(), values.data());
    if (result == 0) return;
    const std::string text(log.data());
    fail(result, text.empty() ? "cuModuleLoadDataEx" : formatted("cuModuleLoadDataEx says '{}'", text));
}

GpuModule::~GpuModule() {
    try_on(*gpu_, [&] { (void)driver().cuModuleUnload(handle_); });
}

void *GpuModule::function(const char *name) const {
    const Gpu::Current current(*gpu_);
    void *found = nullptr;
    const auto result = driver().cuModuleGetFunction(&found, handle_, name);
    if (result == 0) return found;
    note_failure();
    fail(result, formatted("cuModuleGetFunction of '{}'", name));
}

GpuKernel::GpuKernel(std::shared_ptr<const GpuModule> module, const char *name)
    : module_(std::move(module)), handle_(module_->function(name)) {}

void GpuKernel::check(int result, const std::string &call) const {
    if (result == 0) return;
    module_->note_failure();
    fail(result, call);
}

void GpuKernel::allow_shared(std::size_t bytes) const {
    const Gpu::Current current(gpu());
    check(driver().cuFuncSetAttribute(handle_, cuda::dynamic_shared_bytes, static_cast<int>(bytes)),
          formatted("cuFuncSetAttribute to {} bytes of shared memory", bytes));
}

int GpuKernel::blocks_per_multiprocessor(int threads, std::size_t shared_bytes) const {
    const Gpu::Current current(gpu());
    int blocks = 0;
    check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle_, threads, shared_bytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
}

void GpuKernel::launch(const GpuStream &stream, unsigned blocks, unsigned threads, std::size_t shared_bytes,
                       std::span<void *const> arguments) const {
    const Gpu::Current current(gpu());
    auto **parameters = const_cast<void **>(arguments.data()); // the driver only reads them
    const auto result =
        driver().cuLaunchKernel(handle_, blocks, 1, 1, threads, 1, 1, static_cast<unsigned>(shared_bytes),
                                stream.handle(), parameters, nullptr);
    if (result != 0)
        check(result, formatted("cuLaunchKernel of {} blocks of {} threads with {} bytes of shared memory",
                                blocks, threads, shared_bytes));
}

} // namespace libperm
