// Kernels in the making, and from a key to one that can be launched: from this process, from the disk, or
// from NVRTC.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace libperm {

// Everything that changes the compiled image is in `key` but for what the store adds itself: the target,
// NVRTC's version and the flags.
struct KernelRecipe {
    std::string key;                       // readable text, ends with a newline
    std::function<std::string()> source;   // CUDA C++; only called when it has to be compiled
    std::vector<std::string> flags;        // of NVRTC, besides the target
    std::vector<std::string> entries = {}; // names of its kernels, for a DeviceQueue
};

// Of all our kernels. No contraction: the same bits as on any other machine.
inline std::vector<std::string> kernel_flags() {
    return {"--std=c++17", "-fmad=false", "--ptxas-options=-v"};
}

// From a key to a kernel that can be launched: from this process, from the disk, or from NVRTC.

struct AwaitedGpu;
class GpuModule;
struct CacheSettings;

struct KernelOrigin {
    enum From { memory, disk, compiler } from = memory;
    double seconds = 0; // from the request to the loaded module
    std::string log;    // of the compiler, if it ran
};

// Loaded on this GPU, which is waited for when there is something to load. One compile at a time for one key
// in this process: others wait for it, and share it. A failure is not remembered. With $PERM_JIT_KEEP the
// source and the compiler's log of what is compiled are written into that folder. Throws JitError.
std::shared_ptr<const GpuModule> load_kernels(const AwaitedGpu &gpu, const KernelRecipe &recipe,
                                              const CacheSettings &cache, KernelOrigin &origin);

// The key as the cache knows it.
std::string full_key(const KernelRecipe &recipe, const std::string &target);

} // namespace libperm
