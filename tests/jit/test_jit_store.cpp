// From a key to a loaded module. It needs NVRTC and a driver, of which
// PERM_CUDA_DRIVER may name a fake one. All of it runs in processes of their
// own: each starts with nothing in its memory.
#include "jit/compile/disk_cache.hpp"
#include "jit/compile/kernels.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/jit_error.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/whole_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <latch>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace libperm;
namespace fs = std::filesystem;

namespace {

const std::string good_source = "extern \"C\" __global__ void twice(double *x) { x[threadIdx.x] *= 2; }\n";
const std::string bad_source = "extern \"C\" __global__ void twice(double *x) { no_such_name; }\n";

const double longest_hit = run::sanitized ? 1e-2 : 1e-4; // seconds

struct Wrong {
    std::string text;
};

void expect(bool right, const std::string &text) {
    if (!right) throw Wrong{text};
}

std::string told(const std::function<void()> &part) {
    try {
        if (!driver_status().found) return "skip: " + driver_status().why_not;
        if (!nvrtc_status().found) return "skip: " + nvrtc_status().why_not;
        part();
    } catch (const Wrong &wrong) {
        return wrong.text;
    } catch (const std::exception &error) {
        return std::string("thrown: ") + error.what();
    }
    return "";
}

// In a process of its own, which ends as processes do. Its words come over a
// pipe.
void in_new_process(const std::function<void()> &part) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    std::cout.flush();
    std::fflush(stdout);
    const pid_t id = fork();
    if (id == 0) {
        const std::string text = told(part);
        const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        std::exit(written ? 0 : 99); // what the store keeps is released as at any process's end
    }
    close(ends[1]);
    std::string text;
    char buffer[1000];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(id, &status, 0) == id);
    CHECK(status == 0);
    if (text.starts_with("skip: ")) return run::skip(text.substr(6));
    CHECK(text == "");
}

struct Store {
    explicit Store(const std::string &folder) : gpu(Gpu::open(0)) {
        settings.folder = folder;
        settings.warn = [this](std::string_view) { ++warnings; };
    }
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    KernelRecipe recipe(const std::string &key, const std::string &source = good_source) {
        const auto made = [this, source] {
            ++compiles;
            if (delay.count() > 0) std::this_thread::sleep_for(delay);
            return source;
        };
        return {key, made, {"--ptxas-options=-v"}};
    }
    std::shared_ptr<const GpuModule> load(const KernelRecipe &recipe) {
        return load_kernels(gpu, recipe, settings, origin);
    }
    std::string key(const KernelRecipe &recipe) const {
        return full_key(recipe, target_for(gpu->properties().compute_capability));
    }
    std::string failure(const KernelRecipe &recipe) {
        try {
            KernelOrigin own;
            load_kernels(gpu, recipe, settings, own);
            return "";
        } catch (const JitError &error) {
            return error.failure() == JitFailure::compile ? error.what() : "another failure";
        }
    }

    std::shared_ptr<const Gpu> gpu;
    CacheSettings settings;
    KernelOrigin origin;
    std::atomic<int> compiles = 0, warnings = 0;
    std::chrono::milliseconds delay{0};
};

} // namespace

TEST_CASE("the first request compiles, the second has it in memory, and "
          "another process on disk") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        const auto recipe = store.recipe("kernel\n");
        const auto module = store.load(recipe);
        expect(store.origin.from == KernelOrigin::compiler, "not compiled");
        expect(store.origin.log.find("registers") != std::string::npos, "no log");
        expect(store.origin.seconds > 0, "no time");
        expect(store.load(recipe) == module && store.origin.from == KernelOrigin::memory, "not in memory");
        expect(store.origin.log.empty() && store.compiles == 1, "compiled again");
        auto flagged = recipe;
        flagged.flags.push_back("--fmad=false");
        expect(store.load(flagged) != module && store.compiles == 2, "the flags are not in the key");
        expect(cache_list(folder.path()).size() == 2, "not on disk");
    });
    in_new_process([&] {
        Store store(folder.path());
        const auto module = store.load(store.recipe("kernel\n"));
        expect(store.origin.from == KernelOrigin::disk && store.compiles == 0, "not from the disk");
        expect(module->function("twice") != nullptr, "no kernel in it");
        expect(store.load(store.recipe("kernel\n")) == module, "not in memory");
        store.load(store.recipe("another\n"));
        expect(store.origin.from == KernelOrigin::compiler, "another key's kernel");
    });
}

TEST_CASE("the key has the target, NVRTC's version and the flags in it") {
    in_new_process([] {
        const std::string expected =
            "kernel\ntarget sm_90\nNVRTC " + nvrtc_status().version + "\nflags -a -b\n";
        expect(full_key({"kernel\n", {}, {"-a", "-b"}}, "sm_90") == expected, "another key");
    });
}

TEST_CASE("a GPU that is being opened is waited for when there is something to load") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        const auto recipe = store.recipe("kernel\n");
        bool is_open = false;
        int compiled_before = 0, waits = 0;
        const AwaitedGpu gpu(store.gpu->properties(), [&] {
            compiled_before = store.compiles;
            ++waits;
            if (!is_open) throw JitError(JitFailure::unavailable, "in vain");
            return store.gpu;
        });
        GpuQueue queue(gpu, store.settings);
        expect(queue.limits().device == gpu.properties.name && waits == 0, "waited for its limits");
        const auto fails = [&] {
            try {
                KernelOrigin own;
                load_kernels(gpu, recipe, store.settings, own);
                return false;
            } catch (const JitError &error) {
                return error.failure() == JitFailure::unavailable;
            }
        };
        expect(fails() && compiled_before == 1, "not compiled before it waited");
        expect(cache_list(folder.path()).empty(), "kept what no GPU has taken");
        is_open = true;
        KernelOrigin own;
        load_kernels(gpu, recipe, store.settings, own);
        expect(own.from == KernelOrigin::compiler && waits == 2, "the failure was remembered");
        queue.allocate(256);
        queue.wait();
        expect(waits == 3, "a queue waits once");
    });
    in_new_process([&] {
        Store store(folder.path());
        bool is_open = false;
        const AwaitedGpu gpu(store.gpu->properties(), [&] {
            if (!is_open) throw JitError(JitFailure::unavailable, "in vain");
            return store.gpu;
        });
        const auto recipe = store.recipe("kernel\n");
        for (int k = 0; k < 2; ++k) {
            try {
                load_kernels(gpu, recipe, store.settings, store.origin);
                expect(is_open, "loaded on nothing");
            } catch (const JitError &) {
                expect(!is_open, "failed though it is open");
            }
            is_open = true;
        }
        expect(store.origin.from == KernelOrigin::disk && store.compiles == 0, "compiled what is kept");
    });
}

TEST_CASE("a GPU's queue: limits, and blocks at once by the threads of a block") {
    in_new_process([] {
        Store store("");
        GpuQueue queue(store.gpu, store.settings);
        KernelRecipe recipe = store.recipe("kernel\n");
        recipe.entries = {"twice"};
        queue.load(recipe);
        expect(queue.kernels_compiled() == 1 && queue.compile_seconds() > 0, "not counted");
        const GpuProperties &gpu = store.gpu->properties();
        const DeviceLimits limits = queue.limits();
        expect(limits.device == gpu.name && limits.shared_bytes == gpu.shared_bytes, "other limits");
        expect(limits.warp == static_cast<unsigned>(gpu.warp), "another warp");
        const auto count = static_cast<unsigned>(gpu.multiprocessors);
        queue.allow_shared("twice", 100000);
        for (int call = 0; call < 2; ++call)
            for (const std::size_t shared : {0, 100000})
                for (const unsigned threads : {32U, 256U, 1024U}) // the fake driver: 2048 threads at once
                    expect(queue.blocks_at_once("twice", threads, shared) == 2048 / threads * count,
                           "blocks of other threads");
        bool refused = false;
        try {
            queue.allow_shared("twice", 300000);
        } catch (const JitError &error) {
            refused = error.failure() == JitFailure::device;
        }
        expect(refused, "more shared memory than there is");
    });
}

TEST_CASE("a hit in memory takes less than 0.1 ms for a long key") {
    in_new_process([] {
        Store store("");
        const auto recipe = store.recipe(std::string(20000, 'k') + '\n');
        store.load(recipe);
        double least = 1;
        for (int i = 0; i < 200; ++i) {
            store.load(recipe);
            least = std::min(least, store.origin.seconds);
        }
        expect(store.compiles == 1, "compiled again");
        expect(least < longest_hit, "it takes " + std::to_string(least * 1e6) + " us");
    });
}

TEST_CASE("eight threads that ask for one key share one compile") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        store.delay = std::chrono::milliseconds(200);
        const auto recipe = store.recipe("kernel\n");
        std::latch start(8);
        std::vector<std::shared_ptr<const GpuModule>> modules(8);
        std::vector<KernelOrigin> origins(8);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < 8; ++i)
                threads.emplace_back([&, i] {
                    start.arrive_and_wait();
                    try {
                        modules[i] = load_kernels(store.gpu, recipe, store.settings, origins[i]);
                    } catch (const JitError &) {
                        modules[i] = nullptr;
                    }
                });
        }
        expect(store.compiles == 1, std::to_string(store.compiles) + " compiles");
        for (const auto &module : modules) expect(module && module == modules[0], "different modules");
        const auto compiled = [](const KernelOrigin &o) { return o.from == KernelOrigin::compiler; };
        expect(std::count_if(origins.begin(), origins.end(), compiled) == 1,
               "more than one says it compiled");
    });
}

TEST_CASE("a failure reaches all who wait, and is then forgotten") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        store.delay = std::chrono::milliseconds(300);
        const auto bad = store.recipe("kernel\n", bad_source);
        std::latch start(8);
        std::atomic<int> failed = 0;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 8; ++i)
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    failed += store.failure(bad).find("no_such_name") != std::string::npos ? 1 : 0;
                });
        }
        expect(failed == 8, std::to_string(failed) + " failed");
        expect(store.compiles == 1, std::to_string(store.compiles) + " compiles");
        store.delay = std::chrono::milliseconds(0);
        expect(!store.failure(bad).empty() && store.compiles == 2, "the failure is remembered");
        expect(cache_list(folder.path()).empty(), "a failure is on disk");
        store.load(store.recipe("kernel\n"));
        expect(store.origin.from == KernelOrigin::compiler, "not compiled");
    });
}

TEST_CASE("what throws when the source is made is a failure like others") {
    in_new_process([] {
        Store store("");
        auto recipe = store.recipe("kernel\n");
        recipe.source = []() -> std::string { throw Wrong{"thrown on purpose"}; };
        bool thrown = false;
        try {
            store.load(recipe);
        } catch (const Wrong &) {
            thrown = true;
        }
        expect(thrown, "nothing was thrown");
        store.load(store.recipe("kernel\n"));
    });
}

TEST_CASE("a damaged file, and an image that the driver refuses, are compiled "
          "again and replaced") {
    const TemporaryFolder folder;
    for (const bool damaged : {true, false}) {
        in_new_process([&] {
            Store store(folder.path());
            const auto recipe = store.recipe("kernel\n");
            if (!damaged) cache_store(store.settings, store.key(recipe), "no image");
            store.load(recipe);
            expect(store.origin.from == KernelOrigin::compiler, "not compiled");
            expect(cache_load(store.settings, store.key(recipe)).value_or("").size() > 100, "not replaced");
        });
        in_new_process([&] {
            Store store(folder.path());
            store.load(store.recipe("kernel\n"));
            expect(store.origin.from == KernelOrigin::disk, "not replaced");
        });
        for (const auto &file : fs::directory_iterator(folder.path())) fs::resize_file(file.path(), 300);
    }
}

TEST_CASE("the store keeps 256 modules, those that were used last") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        const auto recipe = [&](int i) { return store.recipe("kernel " + std::to_string(i) + "\n"); };
        std::weak_ptr<const GpuModule> first = store.load(recipe(0)), second;
        const std::string image = cache_load(store.settings, store.key(recipe(0))).value_or("");
        for (int i = 1; i < 256; ++i) {
            cache_store(store.settings, store.key(recipe(i)), image);
            const auto module = store.load(recipe(i));
            if (i == 1) second = module;
        }
        expect(store.compiles == 1 && !first.expired() && !second.expired(), "dropped too early");
        store.load(recipe(0)); // now not the least recently used
        expect(store.origin.from == KernelOrigin::memory, "not in memory");
        store.load(recipe(256));
        expect(!first.expired(), "the last used was dropped");
        expect(second.expired(), "nothing was dropped");
        store.load(recipe(1));
        expect(store.origin.from == KernelOrigin::disk, "dropped, but still there");
    });
}

TEST_CASE("a module of which a kernel failed is loaded anew, once") {
    const TemporaryFolder folder;
    in_new_process([&] {
        Store store(folder.path());
        const auto recipe = store.recipe("kernel\n");
        const auto first = store.load(recipe);
        first->note_failure();
        const auto second = store.load(recipe);
        expect(first != second && store.origin.from == KernelOrigin::disk, "the one that failed was taken");
        expect(store.load(recipe) == second && store.origin.from == KernelOrigin::memory, "loaded twice");
    });
}

TEST_CASE("PERM_JIT_KEEP gets the source and the log of what is compiled, and "
          "its failure is only a warning") {
    const TemporaryFolder folder;
    const std::string kept = folder.path() + "/some/kept";
    in_new_process([&] {
        setenv("PERM_JIT_KEEP", kept.c_str(), 1);
        Store store("");
        store.load(store.recipe("good\n"));
        expect(!store.failure(store.recipe("bad\n", bad_source)).empty(), "the bad source was compiled");
        std::set<std::string> sources, logs;
        for (const auto &file : fs::directory_iterator(kept))
            (file.path().extension() == ".cu" ? sources : logs).insert(whole_file::read(file.path()));
        expect(sources == std::set{good_source, bad_source}, "not the sources");
        expect(logs.size() == 2, "not two logs");
        const auto has = [&](const char *word) {
            return std::any_of(logs.begin(), logs.end(), [&](auto &t) { return t.find(word) != t.npos; });
        };
        expect(has("registers") && has("no_such_name"), "not the logs");
        expect(store.warnings == 0, "a warning");

        setenv("PERM_JIT_KEEP", "/proc/nothing/there", 1);
        store.load(store.recipe("third\n"));
        store.load(store.recipe("fourth\n"));
        expect(store.warnings == 1, std::to_string(store.warnings) + " warnings");
    });
}
