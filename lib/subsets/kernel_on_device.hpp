// A plan's kernel on a device: how many threads it is given and which chunks these take, and the sums, with
// the same bits on each, for engine `tree` those of a CPU.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/subsets/windows.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace libperm {

// Loads the kernel, and that by which some matrix's segments are summed again. All that is given stays the
// caller's; a worker is used by one thread at a time. `seconds`: that a matrix is predicted to take.
// `peak_bytes` becomes what it takes of the device's memory, if that is more.
std::unique_ptr<WindowWorker> kernel_on_device(DeviceQueue &queue, const SubsetPlan &plan, bool refines,
                                               double seconds, std::atomic<std::int64_t> &peak_bytes);

// How many threads a device is given.

struct LaunchShape {
    unsigned threads = 0, blocks = 0; // of a block; of all of them
    std::size_t shared = 0;           // bytes of a block
    std::uint64_t all() const { return std::uint64_t{threads} * blocks; }
};

// As many as the device can hold at once, by its occupancy. The kernel is loaded. Throws JitError where no
// block fits.
LaunchShape widest_shape(const SubsetKernel &kernel, DeviceQueue &queue);

// GenerateLaunchParameters: the segments first .. end - 1 for so many threads. Each launch takes chunks of
// the greatest power of two, at most `longest`, of which there is one for every thread; what is left goes to
// the next. The last takes single segments (the paper's least chunk), and not all threads have one.
std::vector<SubsetLaunch> launch_parameters(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t longest);

// The same segments for a kernel whose threads leave nothing behind: launches of at most `most` segments, in
// more chunks than there are threads at once, so that where a block ends early the next one begins. Chunks of
// a power of two, as short as `least` if that makes `waves` of them for each thread.
constexpr std::uint64_t waves = 32;
std::vector<SubsetLaunch> launches_in_waves(std::uint64_t first, std::uint64_t end, std::uint64_t threads,
                                            std::uint64_t most, std::uint64_t least);

} // namespace libperm
