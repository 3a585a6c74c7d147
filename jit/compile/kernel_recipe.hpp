// A kernel in the making.
#pragma once

#include <functional>
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

} // namespace libperm
