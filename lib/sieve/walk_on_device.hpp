// The walk over signs on a GPU: pieces of a CPU's, with the same sums.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/sieve_walk.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/sieve/walk.hpp"

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class SieveOnDevice { // throws JitError
  public:
    // Prefixes are given after `first_step` steps; the device is to have so many of a piece, if there are,
    // for all of its warps. The program outlives it.
    static constexpr std::size_t for_all_warps = 1 << 19;
    SieveOnDevice(DeviceQueue &queue, const SieveProgram &program, std::size_t first_step,
                  std::size_t enough = for_all_warps);

    // Follows the prefixes of a first piece; from which step on the device goes.
    static std::size_t follow_first(const SieveProgram &program, std::size_t first_step,
                                    std::vector<std::uint32_t> &prefixes, std::size_t enough = for_all_warps);

    // What begins with these prefixes of a piece, in their order.
    std::vector<std::uint32_t> follow(std::span<const std::uint32_t> prefixes);

    void start(std::span<const std::uint32_t> followed);
    struct Sum {
        mpz_class products;
        double prefixes = 0;
    };
    Sum finish(); // waits

    std::int64_t peak_bytes() const;

  private:
    void load();

    DeviceQueue &queue_;
    const SieveProgram &program_;
    const std::size_t first_, enough_;
    std::optional<std::size_t> device_step_; // the first on the device
    unsigned blocks_ = 1;
    std::size_t followed_ = 0;
    const SieveProducts products_;
    std::vector<std::int64_t> counts_;
    DeviceArray prefixes_, room_, told_; // told: the next prefix, how many were met, counts
};

// Of a GPU that has as many blocks at work as it may have.
double sieve_bytes_on_gpu(const SieveProgram &program, std::size_t first_step, const GpuProperties &gpu);

} // namespace libperm
