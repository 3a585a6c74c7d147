// Runs generated kernels without a GPU: their text (but `extern` for `extern __shared__`), compiled by the
// C++ compiler that the tests were built with (tests/support/cuda_shim.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

class HostLibrary;

class HostKernel {
  public:
    // Bytes of a block's shared memory; of those behind it, untouched.
    static constexpr std::size_t guard = 256, most_shared = (1 << 16) - guard;

    HostKernel(std::shared_ptr<const HostLibrary> library, std::size_t which, const std::string &source);

    // As cuLaunchKernel does. Blocks are played one after another; so are a block's threads, in turn up to
    // where they wait for each other. Shared memory holds NaNs at first. Throws std::runtime_error if a
    // thread waits for one that has returned, or something was written behind the shared memory.
    void launch(const char *entry, unsigned blocks, unsigned threads, std::size_t shared,
                void *const *parameters) const;
    // Of a block, at most; 0: there is no such entry.
    unsigned most_threads(const std::string &entry) const {
        const auto found = most_threads_.find(entry);
        return found == most_threads_.end() ? 0 : found->second;
    }

  private:
    std::shared_ptr<const HostLibrary> library_;
    std::string suffix_;
    bool waits_;
    std::map<std::string, unsigned> most_threads_; // by entry
};

// In the order of the sources. Without a compiler it
// announces a skip and returns none. Throws std::runtime_error with what the compiler says.
std::vector<HostKernel> compile_for_host(const std::vector<std::string> &sources);
