// Calls of the engines on a GPU that meet with something: no memory, a caller's context, a cancellation, a
// time limit; and their progress.
#include "tests/support/at_once.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// ---------------------------------------------------------------- the driver, beside the library

class Driver {
  public:
    Driver() {
        const char *path = std::getenv("PERM_CUDA_DRIVER");
        void *library = dlopen(path != nullptr ? path : "libcuda.so.1", RTLD_NOW);
        if (library == nullptr) throw std::runtime_error(dlerror());
        get(library, context_create, "cuCtxCreate_v2");
        get(library, context_destroy, "cuCtxDestroy_v2");
        get(library, context_current, "cuCtxGetCurrent");
        get(library, context_set, "cuCtxSetCurrent");
        get(library, primary_retain, "cuDevicePrimaryCtxRetain");
        get(library, primary_release, "cuDevicePrimaryCtxRelease_v2");
        get(library, memory_info, "cuMemGetInfo_v2");
        get(library, memory_allocate, "cuMemAlloc_v2");
        get(library, memory_free, "cuMemFree_v2");
    }

    using Context = void *;
    int (*context_create)(Context *, unsigned flags, int device);
    int (*context_destroy)(Context);
    int (*context_current)(Context *);
    int (*context_set)(Context);
    int (*primary_retain)(Context *, int device);
    int (*primary_release)(int device);
    int (*memory_info)(std::size_t *free, std::size_t *total);
    int (*memory_allocate)(unsigned long long *, std::size_t bytes);
    int (*memory_free)(unsigned long long);

    Context current() const {
        Context context = nullptr;
        CHECK(context_current(&context) == 0);
        return context;
    }

  private:
    template <class Function> static void get(void *library, Function &function, const char *name) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    }
};

// All of the GPU's memory that can be had, down to pieces of 4 KiB.
class AllMemory {
  public:
    explicit AllMemory(const Driver &driver) : driver_(driver) {
        REQUIRE(driver.primary_retain(&context_, 0) == 0);
        REQUIRE(driver.context_set(context_) == 0);
        std::size_t bytes = 0, total = 0;
        REQUIRE(driver.memory_info(&bytes, &total) == 0);
        while (bytes >= 4096) {
            unsigned long long address = 0;
            if (taken_.size() < most_pieces && driver.memory_allocate(&address, bytes) == 0)
                taken_.push_back(address);
            else
                bytes /= 2;
        }
    }
    ~AllMemory() {
        (void)driver_.context_set(context_);
        for (const unsigned long long address : taken_) (void)driver_.memory_free(address);
        (void)driver_.context_set(nullptr);
        (void)driver_.primary_release(0);
    }
    AllMemory(const AllMemory &) = delete;
    AllMemory &operator=(const AllMemory &) = delete;

  private:
    static constexpr std::size_t most_pieces = 10000;
    const Driver &driver_;
    Driver::Context context_ = nullptr;
    std::vector<unsigned long long> taken_;
};

// ---------------------------------------------------------------- callbacks

struct Watch {
    std::vector<double> fractions;
    std::atomic<bool> stop{false}; // once something has been done
    Clock::time_point asked;
    bool was_asked = false;
};

void note_progress(double fraction, double, void *user) {
    static_cast<Watch *>(user)->fractions.push_back(fraction);
}

int stop_it(void *user) {
    Watch &watch = *static_cast<Watch *>(user);
    if (!watch.stop || watch.fractions.empty() || watch.fractions.back() == 0) return 0;
    if (!watch.was_asked) watch.asked = Clock::now();
    watch.was_asked = true;
    return 1;
}

perm_opts watched(perm_opts opts, Watch &watch) {
    opts.progress = note_progress;
    opts.cancel = stop_it;
    opts.progress_user = opts.cancel_user = &watch;
    return opts;
}

perm_status status_of(const perm::Csr &a, const perm_opts &opts) {
    perm::Result r;
    const perm_csr view = a.view();
    return perm_compute(&view, &opts, r.raw());
}

void check_works() {
    for (const char *engine : gpu_engines) {
        perm::Result r = perm::compute(counting(4), on_gpu(engine));
        CHECK(r.text() == "55456");
    }
}

} // namespace

TEST_CASE("GPU: without memory on it a call says so, and the next one works") {
    if (!gpu()) return;
    const Driver driver;
    Random random(run::seed(0x677008));
    check_works();
    int refused = 0;
    for (const bool loaded : {false, true}) {
        CAPTURE(loaded);
        const perm::Csr a = permutation_plus(30, 4, Entries::nonnegative, random.bits());
        perm::Result right = perm::compute(a, with_engine("frontier"));
        const perm::Plan plan(a, on_gpu("hybrid"));
        if (loaded) (void)plan.execute(a.values.data());
        {
            const AllMemory taken(driver);
            for (int call = 0; call < 3; ++call) {
                try {
                    perm::Result r = plan.execute(a.values.data());
                    check_agree(*r.raw(), *right.raw());
                } catch (const perm::Error &error) {
                    CHECK_MESSAGE(error.status() == PERM_OUT_OF_MEMORY, error.what());
                    MESSAGE(std::string(error.what()));
                    CHECK(std::string(error.what()).size() > 10);
                    ++refused;
                }
            }
        }
        perm::Result r = plan.execute(a.values.data());
        check_agree(*r.raw(), *right.raw());
        CHECK(relative_difference(*r.raw(), *right.raw()) <= 1e-11);
    }
    MESSAGE(refused << " of 6 calls found no memory on the GPU");
    check_works();
}

TEST_CASE("GPU: the caller's context stays") {
    if (!gpu()) return;
    const Driver driver;
    // Calls of every kind: that succeed, are refused, are cancelled.
    const auto calls = [] {
        check_works();
        const perm::Csr large = erdos_renyi(44, 0.9, Entries::nonnegative, run::seed(0x677009));
        perm_opts opts = on_gpu("dense");
        opts.time_limit_seconds = 0.01;
        CHECK(status_of(large, opts) == PERM_REFUSED_TIME);
        Watch watch;
        watch.stop = true;
        CHECK(status_of(large, watched(on_gpu("dense"), watch)) == PERM_CANCELLED);
        perm_opts equal = on_gpu("purereg", "equal");
        CHECK(perm::compute(counting(4), equal).text() == "55456");
    };
    at_once(1, [&](std::size_t) { // a thread has none at first
        CHECK(driver.current() == nullptr);
        calls();
        CHECK(driver.current() == nullptr);
    });
    at_once(1, [&](std::size_t) {
        Driver::Context own = nullptr, primary = nullptr;
        REQUIRE(driver.context_create(&own, 0, 0) == 0);
        CHECK(driver.current() == own);
        calls();
        CHECK(driver.current() == own);
        CHECK(driver.context_destroy(own) == 0);
        CHECK(driver.primary_retain(&primary, 0) == 0); // the library's own
        CHECK(driver.context_set(primary) == 0);
        calls();
        CHECK(driver.current() == primary);
        CHECK(driver.context_set(nullptr) == 0);
        CHECK(driver.primary_release(0) == 0);
    });
    check_works();
}

TEST_CASE("GPU: a long run stops when it is asked to") {
    if (!gpu()) return;
    const perm::Csr large = erdos_renyi(44, 0.3, Entries::nonnegative, run::seed(0x67700a));
    for (const char *chunks : {"ceg", "equal"})
        for (const char *engine : gpu_engines) {
            if (!has_chunks(engine, chunks)) continue;
            CAPTURE(std::string(engine));
            CAPTURE(std::string(chunks));
            Watch watch;
            watch.stop = true;
            CHECK(status_of(large, watched(on_gpu(engine, chunks), watch)) == PERM_CANCELLED);
            REQUIRE(watch.was_asked);
            CHECK(seconds_since(watch.asked) < 2);
            CHECK(perm::compute(counting(4), on_gpu(engine, chunks)).text() == "55456");
        }
    // Also while a thread of its own asks for it.
    Watch watch;
    std::jthread asking([&watch] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        watch.stop = true;
    });
    const auto start = Clock::now();
    CHECK(status_of(large, watched(on_gpu("dense"), watch)) == PERM_CANCELLED);
    CHECK(seconds_since(start) < 1.5 + 2 + 5); // 5: for compiling, at most
    CHECK(watch.was_asked);
    check_works();
}

TEST_CASE("GPU: what takes longer than the limit is refused, before or while it runs") {
    if (!gpu()) return;
    const perm::Csr large = erdos_renyi(44, 0.3, Entries::nonnegative, run::seed(0x67700b));
    for (const char *engine : gpu_engines) {
        CAPTURE(std::string(engine));
        perm_opts opts = on_gpu(engine);
        opts.time_limit_seconds = 0.1;
        const auto start = Clock::now();
        CHECK(status_of(large, opts) == PERM_REFUSED_TIME);
        const std::string why = perm_last_error(); // perhaps while looking for tree's order
        CHECK((why.find(engine) != std::string::npos || why.find("time limit") != std::string::npos));
        CHECK(seconds_since(start) < 1);
        opts.time_limit_seconds = 0; // a day
        CHECK(status_of(erdos_renyi(64, 0.9, Entries::ones, 1), opts) == PERM_REFUSED_TIME);
    }
    check_works();
}

TEST_CASE("GPU: progress only goes up") {
    if (!gpu()) return;
    const perm::Csr a = erdos_renyi(37, 0.8, Entries::nonnegative, run::seed(0x67700c));
    for (const char *chunks : {"ceg", "equal"}) {
        CAPTURE(std::string(chunks));
        Watch watch;
        CHECK(status_of(a, watched(on_gpu("dense", chunks), watch)) == PERM_OK);
        REQUIRE(!watch.fractions.empty());
        CHECK(std::is_sorted(watch.fractions.begin(), watch.fractions.end()));
        CHECK(watch.fractions.front() >= 0);
        CHECK(watch.fractions.back() <= 1);
        CHECK(watch.fractions.back() > 0);
    }
}
