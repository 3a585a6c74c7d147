#include "jit/compile/kernels.hpp"

#include "jit/compile/digest.hpp"
#include "jit/compile/disk_cache.hpp"
#include "jit/compile/nvrtc.hpp"
#include "jit/driver/gpu.hpp"
#include "jit/driver/jit_error.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t most_modules = 256; // that the process keeps; holders of others keep them

using Module = std::shared_ptr<const GpuModule>;

// What is loaded or in the making, by GPU and key.
class Registry {
  public:
    struct Claim {
        std::shared_future<Module> ready;
        bool to_make = false; // by the caller, who then says finished() or forget()
    };

    Claim claim(const std::string &name, std::promise<Module> &promise) {
        Entry failed; // unloaded after the lock
        const std::lock_guard lock(mutex_);
        const auto [found, is_new] = entries_.try_emplace(name);
        Entry &entry = found->second;
        entry.used = ++uses_;
        if (!is_new && !entry.has_failed()) return {entry.ready, false};
        failed = std::exchange(entry, {promise.get_future().share(), uses_});
        return {entry.ready, true};
    }
    void finished(const std::string &name) {
        Entry dropped; // unloaded after the lock
        const std::lock_guard lock(mutex_);
        entries_.at(name).made = true;
        auto least = entries_.end(); // recently used
        std::size_t made = 0;
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
            if (entry->second.made) {
                ++made;
                if (least == entries_.end() || entry->second.used < least->second.used) least = entry;
            }
        if (made <= most_modules) return;
        dropped = std::move(least->second);
        entries_.erase(least);
    }
    void forget(const std::string &name) {
        const std::lock_guard lock(mutex_);
        entries_.erase(name);
    }

  private:
    struct Entry {
        std::shared_future<Module> ready;
        std::uint64_t used = 0; // when it was asked for last
        bool made = false;
        bool has_failed() const { return made && ready.get()->has_failed(); }
    };

    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
    std::uint64_t uses_ = 0;
};

Registry &registry() {
    static Registry loaded;
    return loaded;
}

// What a person reads who asked for it by PERM_JIT_KEEP.
void keep(const CacheSettings &cache, const std::string &file, const std::string &text) {
    const char *folder = secure_getenv("PERM_JIT_KEEP");
    if (folder == nullptr || *folder == '\0') return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(std::filesystem::path(folder) / file, std::ios::binary);
    out << text;
    out.close();
    if (!out) warn_of_folder(cache, folder, "PERM_JIT_KEEP: cannot write to '" + std::string(folder) + "'");
}

Compiled compile_and_keep(const KernelRecipe &recipe, const std::string &target, const std::string &key,
                          const CacheSettings &cache) {
    const std::string hash = digest_of_bytes(key), source = recipe.source();
    keep(cache, hash + ".cu", source);
    try {
        Compiled compiled = compile(source, target, recipe.flags);
        keep(cache, hash + ".log", compiled.log);
        return compiled;
    } catch (const JitError &error) {
        keep(cache, hash + ".log", error.what());
        throw;
    }
}

// Nothing also if the driver does not take the image: then it is compiled, and replaced.
Module from_disk(const AwaitedGpu &gpu, const std::string &key, const CacheSettings &cache) {
    const auto image = cache_load(cache, key);
    if (!image) return nullptr;
    const std::shared_ptr<const Gpu> open = gpu.wait();
    try {
        return std::make_shared<const GpuModule>(open, *image);
    } catch (const JitError &error) {
        if (error.failure() == JitFailure::out_of_memory) throw; // nor would it take another
        return nullptr;
    }
}

Module make(const AwaitedGpu &gpu, const KernelRecipe &recipe, const std::string &target,
            const std::string &key, const CacheSettings &cache, KernelOrigin &origin) {
    origin.from = KernelOrigin::disk;
    if (Module module = from_disk(gpu, key, cache)) return module;
    origin.from = KernelOrigin::compiler;
    Compiled compiled = compile_and_keep(recipe, target, key, cache);
    Module module = std::make_shared<const GpuModule>(gpu.wait(), compiled.image);
    cache_store(cache, key, compiled.image);
    origin.log = std::move(compiled.log);
    return module;
}

} // namespace

std::string full_key(const KernelRecipe &recipe, const std::string &target) {
    std::string key = recipe.key + "target " + target + "\nNVRTC " + nvrtc_status().version + "\nflags";
    for (const std::string &flag : recipe.flags) key += ' ' + flag;
    return key + '\n';
}

std::shared_ptr<const GpuModule> load_kernels(const AwaitedGpu &gpu, const KernelRecipe &recipe,
                                              const CacheSettings &cache, KernelOrigin &origin) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    origin = {};
    if (!nvrtc_status().found) throw JitError(JitFailure::unavailable, nvrtc_status().why_not);
    const std::string target = target_for(gpu.properties.compute_capability);
    const std::string key = full_key(recipe, target);
    const std::string name = std::to_string(gpu.properties.ordinal) + '\n' + key;

    std::promise<Module> promise;
    const auto [ready, to_make] = registry().claim(name, promise);
    if (to_make) {
        try {
            promise.set_value(make(gpu, recipe, target, key, cache, origin));
            registry().finished(name);
        } catch (...) {
            registry().forget(name); // before the others hear of it, who may ask again
            promise.set_exception(std::current_exception());
        }
    }
    Module module = ready.get(); // throws what the making threw
    origin.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return module;
}

} // namespace libperm
