// How many threads a device is given.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "jit/queue/device_queue.hpp"

namespace libperm {

struct LaunchShape {
    unsigned threads = 0, blocks = 0; // of a block; of all of them
    std::size_t shared = 0;           // bytes of a block
    std::uint64_t all() const { return std::uint64_t{threads} * blocks; }
};

// As many as the device can hold at once, by its occupancy. The kernel is loaded. Throws JitError where no
// block fits.
LaunchShape widest_shape(const SubsetKernel &kernel, DeviceQueue &queue);

} // namespace libperm
