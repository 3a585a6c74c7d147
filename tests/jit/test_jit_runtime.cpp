// What the GPU's engine is built on: NVRTC with no GPU, and the driver's calls with a fake driver
// (tests/support/fake_driver.c, named by PERM_CUDA_DRIVER).
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/driver/jit_error.hpp"
#include "tests/support/ptxas.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace libperm;

namespace {

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// The failure of a call that must fail.
struct Failed {
    std::optional<JitFailure> how;
    std::string text;
};
template <class Body> Failed failure_of(const Body &body) {
    try {
        body();
    } catch (const JitError &error) {
        return {error.failure(), error.what()};
    }
    return {};
}

// Environments are read once a process: this test again, with another one, and only a test that is else
// skipped.
std::string said_by_child(const std::string &environment, const std::string &test) {
    std::array<char, PATH_MAX> self{};
    if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0) return "no /proc/self/exe";
    const std::string command =
        "env " + environment + " '" + self.data() + "' --no-skip --test-case='" + test + "' 2>&1";
    std::string said;
    FILE *pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "no child";
    std::array<char, 4096> part{};
    while (const auto bytes = std::fread(part.data(), 1, part.size(), pipe)) said.append(part.data(), bytes);
    pclose(pipe);
    return said;
}

const std::string source = R"(
__device__ __noinline__ double helper(double *a, int n) {
    double b[40];
    for (int i = 0; i < 40; i++) b[i] = a[i * n];
    return b[n];
}
extern "C" __global__ void first(double *a, int n) { a[threadIdx.x] *= n + helper(a, n); }
extern "C" __global__ void __launch_bounds__(1024) second(double *a, int n) {
    double x[64];
    for (int i = 0; i < 64; i++) x[i] = a[i * n];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < 64; i++) x[i] = x[i] * x[(i + 1) & 63];
    double s = 0;
    for (int i = 0; i < 64; i++) s += x[i];
    a[0] = s;
}
)";

bool nvrtc_here() {
    if (nvrtc_status().found) return true;
    run::skip(nvrtc_status().why_not);
    return false;
}

// The fake driver's own questions, if it is the driver.
struct Fake {
    int (*count)(const char *) = nullptr;
    int (*depth)() = nullptr;
    int (*current)() = nullptr;

    int open(const char *taken, const char *given) const { return count(taken) - count(given); }
    bool balanced() const {
        return depth() == 0 && open("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2") == 0 &&
               open("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2") == 0 &&
               open("cuMemAlloc_v2", "cuMemFree_v2") == 0 && open("cuMemHostAlloc", "cuMemFreeHost") == 0 &&
               open("cuStreamCreateWithPriority", "cuStreamDestroy_v2") == 0;
    }
};

std::optional<Fake> fake_driver() {
    const char *path = std::getenv("PERM_CUDA_DRIVER");
    void *library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    Fake fake;
    if (library != nullptr) {
        fake.count = reinterpret_cast<int (*)(const char *)>(dlsym(library, "fake_driver_count"));
        fake.depth = reinterpret_cast<int (*)()>(dlsym(library, "fake_driver_depth"));
        fake.current = reinterpret_cast<int (*)()>(dlsym(library, "fake_driver_current"));
    }
    if (fake.count != nullptr) return fake;
    run::skip("PERM_CUDA_DRIVER does not name the fake driver");
    return {};
}

// While it lives, this call fails.
struct FailingCall {
    explicit FailingCall(const char *call_and_code) { setenv("FAKE_DRIVER_FAIL", call_and_code, 1); }
    ~FailingCall() { unsetenv("FAKE_DRIVER_FAIL"); }
    FailingCall(const FailingCall &) = delete;
    FailingCall &operator=(const FailingCall &) = delete;
};

} // namespace

TEST_CASE("NVRTC compiles for a device and for a virtual architecture") {
    if (!nvrtc_here()) return;
    const auto &architectures = nvrtc_status().architectures;
    REQUIRE(!architectures.empty());
    CHECK(std::is_sorted(architectures.begin(), architectures.end()));
    CHECK(contains(nvrtc_status().version, "."));
    for (const int it : {architectures.front(), 90, architectures.back()}) {
        const std::string number = std::to_string(it);
        CAPTURE(number);
        const Compiled cubin = compile(source, "sm_" + number, {"--ptxas-options=-v", "--std=c++17"});
        CHECK(cubin.image.starts_with("\177ELF"));
        const auto reports = read_ptxas(cubin.log);
        REQUIRE(reports.size() == 2);
        for (const PtxasReport &report : reports) {
            const bool second = report.kernel == "second";
            CHECK((second || report.kernel == "first"));
            CHECK(report.registers > 8);
            CHECK(report.registers <= (second ? 64 : 255));
            CHECK((report.spill_stores > 0) == second);
            CHECK((report.spill_loads > 0) == second);
            CHECK(report.stack > 0);
        }
        const Compiled ptx = compile(source, "compute_" + number, {});
        CHECK(contains(ptx.image, ".target sm_" + number));
        CHECK(ptx.image.back() != '\0');
    }
}

TEST_CASE("NVRTC's refusal comes with its log") {
    if (!nvrtc_here()) return;
    const Failed broken =
        failure_of([] { compile("__global__ void k() { no_such_thing(); }", "sm_90", {}); });
    CHECK(broken.how == JitFailure::compile);
    CHECK(contains(broken.text, "NVRTC_ERROR_COMPILATION"));
    CHECK(contains(broken.text, "no_such_thing"));
    const Failed unknown = failure_of([] { compile(source, "sm_10", {}); });
    CHECK(unknown.how == JitFailure::compile);
    CHECK(contains(unknown.text, "--gpu-architecture"));
}

TEST_CASE("NVRTC compiles for many threads at once") {
    if (!nvrtc_here()) return;
    const std::vector<std::string> targets{"sm_80", "sm_90", "compute_90", "sm_80"};
    std::vector<std::string> alone, together(targets.size());
    for (const std::string &target : targets) alone.push_back(compile(source, target, {}).image);
    {
        std::vector<std::jthread> threads;
        for (std::size_t k = 0; k < targets.size(); ++k)
            threads.emplace_back([&, k] { together[k] = compile(source, targets[k], {}).image; });
    }
    CHECK(together == alone);
}

TEST_CASE("the target for a device") {
    if (!nvrtc_here()) return;
    const auto &known = nvrtc_status().architectures;
    for (const int it : known) CHECK(target_for(it) == "sm_" + std::to_string(it));
    for (int it = known.front(); it < known.back() + 30; ++it) {
        const int below = *std::prev(std::upper_bound(known.begin(), known.end(), it));
        CHECK(target_for(it) == (below / 10 == it / 10 ? "sm_" : "compute_") + std::to_string(below));
    }
    const Failed old = failure_of([&] { target_for(known.front() - 1); });
    CHECK(old.how == JitFailure::unavailable);
    CHECK(contains(old.text, "older"));
}

TEST_CASE("reports of ptxas are read") {
    const auto reports =
        read_ptxas("ptxas info    : 0 bytes gmem\n"
                   "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
                   "ptxas info    : Function properties for one\n"
                   "    32 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
                   "ptxas info    : Used 30 registers, used 1 barriers, 400 bytes cmem[0]\n"
                   "ptxas info    : Function properties for callee\n"
                   "    8 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n"
                   "ptxas info    : Compiling entry function 'two' for 'sm_90'\n"
                   "ptxas info    : Function properties for two\n"
                   "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
                   "loads\n"
                   "ptxas info    : Used 255 registers");
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].kernel == "one");
    CHECK(reports[0].registers == 30);
    CHECK(reports[0].stack == 32);
    CHECK(reports[0].spill_stores == 12);
    CHECK(reports[0].spill_loads == 16);
    CHECK(reports[1].kernel == "two");
    CHECK(reports[1].registers == 255);
    CHECK(reports[1].spill_stores == 0);
    CHECK(read_ptxas("").empty());
    CHECK(read_ptxas("Used 3 registers\n 5 bytes stack frame").empty());
}

TEST_CASE("child: what was found" * doctest::skip()) {
    std::printf("driver: %d '%s'\nNVRTC: %d '%s'\n", driver_status().found, driver_status().why_not.c_str(),
                nvrtc_status().found, nvrtc_status().why_not.c_str());
    CHECK(driver_status().found == driver_status().why_not.empty());
    CHECK(nvrtc_status().found == nvrtc_status().why_not.empty());
    if (!driver_status().found) CHECK(failure_of([] { Gpu::open(0); }).how == JitFailure::unavailable);
    if (!nvrtc_status().found) {
        CHECK(failure_of([] { compile(source, "sm_90", {}); }).how == JitFailure::unavailable);
        CHECK(failure_of([] { target_for(90); }).how == JitFailure::unavailable);
    }
}

TEST_CASE("what is said when a library is not there, or is another") {
    const std::string test = "child: what was found";
    const std::string absent =
        said_by_child("PERM_CUDA_DRIVER=/nowhere/libcuda.so PERM_NVRTC=/nowhere/libnvrtc.so", test);
    CAPTURE(absent);
    CHECK(contains(absent,
                   "driver: 0 'no NVIDIA driver where PERM_CUDA_DRIVER says: /nowhere/libcuda.so: cannot"));
    CHECK(contains(absent, "NVRTC: 0 'no NVRTC where PERM_NVRTC says: /nowhere/libnvrtc.so: cannot"));
    CHECK(contains(absent, "SUCCESS"));
    const std::string other = said_by_child("PERM_CUDA_DRIVER=libm.so.6 PERM_NVRTC=libm.so.6", test);
    CAPTURE(other);
    CHECK(contains(other, "lacks cuInit, "));
    CHECK(contains(other, "lacks nvrtcGetErrorString, "));
    CHECK(contains(other, "SUCCESS"));
}

TEST_CASE("a driver that does not start") {
    if (!fake_driver()) return;
    const std::string said = said_by_child("FAKE_DRIVER_FAIL=cuInit:999", "child: what was found");
    CAPTURE(said);
    CHECK(contains(said, "driver: 0 'no NVIDIA GPU: cuInit of "));
    CHECK(contains(said, "error 999"));
    CHECK(contains(said, "SUCCESS"));
    CHECK(contains(said_by_child("FAKE_DRIVER_FAIL=cuInit:34", "child: what was found"), "stand-in"));
}

TEST_CASE("what a GPU can do is told without a context") {
    const auto fake = fake_driver();
    if (!fake) return;
    const int before = fake->count("cuDevicePrimaryCtxRetain");
    {
        const FailingCall failing("cuDevicePrimaryCtxRetain:46");
        CHECK(Gpu::look_at(0).name == "Fake GPU 0");
        CHECK(Gpu::look_at(1).compute_capability == 86);
    }
    CHECK(Gpu::look_at(0).multiprocessors == Gpu::open(0)->properties().multiprocessors);
    CHECK(fake->count("cuDevicePrimaryCtxRetain") == before + 1);
    CHECK(failure_of([] { Gpu::look_at(2); }).how == JitFailure::unavailable);
    const FailingCall failing("cuDeviceTotalMem_v2:999");
    CHECK(failure_of([] { Gpu::look_at(0); }).how == JitFailure::unavailable);
}

TEST_CASE("a GPU is shared by its holders, and given back") {
    const auto fake = fake_driver();
    if (!fake) return;
    REQUIRE(driver_status().found);
    CHECK(driver_status().gpus == 2);
    CHECK(driver_status().version == "12.4");
    {
        const auto gpu = Gpu::open(0);
        CHECK(Gpu::open(0) == gpu);
        CHECK(Gpu::open(1) != gpu);
        CHECK(gpu->free_bytes() == (std::int64_t{80} << 30) - 1000);
        const GpuProperties &it = gpu->properties();
        CHECK(it.name == "Fake GPU 0");
        CHECK(it.compute_capability == 90);
        CHECK(it.multiprocessors == 132);
        CHECK(it.fp64_lanes == 64);
        CHECK(it.registers == 65536);
        CHECK(it.threads == 2048);
        CHECK(it.shared_bytes == 232448);
        CHECK(it.clock_hz == 1.98e9);
        CHECK(it.memory_bandwidth == 2 * 2.619e9 * 5120 / 8);
        CHECK(it.memory_bytes == std::int64_t{80} << 30);
        CHECK(Gpu::open(1)->properties().fp64_lanes == 2);
        CHECK(fake->open("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2") == 1);
    }
    CHECK(fake->balanced());
    const Failed beyond = failure_of([] { Gpu::open(2); });
    CHECK(beyond.how == JitFailure::unavailable);
    CHECK(contains(beyond.text, "GPU 2"));
    CHECK(failure_of([] { Gpu::open(-1); }).how == JitFailure::unavailable);
    const Failed busy = failure_of([] {
        const FailingCall failing("cuDevicePrimaryCtxRetain:46");
        Gpu::open(0);
    });
    CHECK(busy.how == JitFailure::unavailable);
    CHECK(contains(busy.text, "cuDevicePrimaryCtxRetain"));
    CHECK(fake->balanced());
}

TEST_CASE("the caller's current context is restored") {
    const auto fake = fake_driver();
    if (!fake) return;
    const auto gpu = Gpu::open(0), other = Gpu::open(1);
    const Gpu::Current current(*other);
    {
        const GpuMemory memory(gpu, 8);
        CHECK(fake->current() == 1);
        const Gpu::Current inner(*gpu);
        CHECK(fake->current() == 0);
        CHECK(failure_of([&] { GpuModule(other, "broken"); }).how == JitFailure::device);
        CHECK(fake->current() == 0);
    }
    CHECK(fake->current() == 1);
    CHECK(fake->depth() == 1);
}

TEST_CASE("a kernel runs with its arguments") {
    const auto fake = fake_driver();
    if (!fake) return;
    {
        auto gpu = Gpu::open(0);
        const GpuMemory memory(gpu, 3 * sizeof(double)), none(gpu, 0);
        const GpuHostMemory locked(gpu, 3 * sizeof(double));
        GpuStream stream(gpu);
        const auto module = std::make_shared<const GpuModule>(gpu, "fake image");
        const GpuKernel kernel(module, "twice");
        gpu.reset(); // what was made on it keeps it
        CHECK(none.address() == 0);
        CHECK(kernel.blocks_per_multiprocessor(256, 1000) == 8);
        kernel.allow_shared(100000);

        std::array<double, 3> numbers{1, 2, 3};
        stream.copy_in(memory, numbers.data(), sizeof numbers);
        const std::uint64_t address = memory.address();
        const int count = 2;
        const std::array<void *, 2> arguments{const_cast<std::uint64_t *>(&address),
                                              const_cast<int *>(&count)};
        kernel.launch(stream, 1, 32, 100000, arguments);
        stream.copy_out(numbers.data(), memory, sizeof numbers);
        stream.wait();
        CHECK(numbers == std::array<double, 3>{2, 4, 3});
        auto *const fetched = static_cast<double *>(locked.get());
        stream.fetch(fetched, memory.address(), sizeof numbers);
        stream.wait();
        CHECK(std::equal(numbers.begin(), numbers.end(), fetched));

        CHECK(!module->has_failed());
        const Failed launch = failure_of([&] { kernel.launch(stream, 1, 2048, 0, arguments); });
        CHECK(launch.how == JitFailure::device);
        CHECK(module->has_failed());
        CHECK(contains(launch.text, "cuLaunchKernel of 1 blocks of 2048 threads"));
        CHECK(contains(launch.text, "CUDA_ERROR_INVALID_VALUE (the fake driver's text)"));
        CHECK(failure_of([&] { kernel.allow_shared(300000); }).how == JitFailure::device);
    }
    CHECK(fake->count("cuModuleUnload") == 1);
    CHECK(fake->balanced());
}

TEST_CASE("failures of the driver come with its texts") {
    const auto fake = fake_driver();
    if (!fake) return;
    {
        const auto gpu = Gpu::open(0);
        const Failed memory = failure_of([&] {
            const FailingCall failing("cuMemAlloc_v2:2");
            const GpuMemory too_much(gpu, 123456789);
        });
        CHECK(memory.how == JitFailure::out_of_memory);
        CHECK(contains(memory.text, "123456789 bytes"));
        CHECK(contains(memory.text, "85899344920 are free"));
        CHECK(contains(memory.text, "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"));

        const Failed locked = failure_of([&] {
            const FailingCall failing("cuMemHostAlloc:2");
            const GpuHostMemory too_much(gpu, 123456789);
        });
        CHECK(locked.how == JitFailure::out_of_memory);
        CHECK(contains(locked.text, "cuMemHostAlloc of 123456789 bytes"));

        const Failed image = failure_of([&] { GpuModule(gpu, "broken"); });
        CHECK(image.how == JitFailure::device);
        CHECK(contains(image.text, "not a fake image"));
        const GpuModule module(gpu, "fake");
        const Failed name = failure_of([&] { (void)module.function("thrice"); });
        CHECK(contains(name.text, "'thrice'"));
        CHECK(contains(name.text, "CUDA_ERROR_NOT_FOUND"));
        const Failed old = failure_of([&] {
            const FailingCall failing("cuModuleLoadDataEx:222");
            GpuModule(gpu, "fake");
        });
        CHECK(old.how == JitFailure::unavailable);
        CHECK(contains(old.text, "error 222"));

        const GpuStream stream(gpu);
        const FailingCall failing("cuStreamSynchronize:700");
        CHECK(failure_of([&] { stream.wait(); }).how == JitFailure::device);
    }
    {
        const auto gpu = Gpu::open(0);
        auto memory = std::make_unique<GpuMemory>(gpu, 8);
        const FailingCall failing("cuMemFree_v2:4"); // the process ends: destructors do not mind
        const std::uint64_t address = memory->address();
        memory.reset();
        std::free(reinterpret_cast<void *>(address));
    }
    CHECK(fake->open("cuMemAlloc_v2", "cuMemFree_v2") == 1);
    CHECK(fake->open("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2") == 0);
    CHECK(fake->open("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2") == 0);
}

TEST_CASE("many threads take and give GPUs at once") {
    const auto fake = fake_driver();
    if (!fake) return;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([thread] {
                for (int k = 0; k < 100; ++k) {
                    const auto gpu = Gpu::open((k + thread) % 2);
                    GpuStream stream(gpu);
                    const GpuMemory memory(gpu, 64);
                    stream.wait();
                }
            });
    }
    CHECK(fake->open("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2") == 0);
    CHECK(fake->open("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2") == 0);
}
