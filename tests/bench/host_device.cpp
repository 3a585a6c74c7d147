// The device that the benchmark of products is tested on.
#define DOCTEST_CONFIG_IMPLEMENT // what its kernels are played with checks
#include <doctest/doctest.h>

#include "bench/device.hpp"
#include "tests/support/host_queue.hpp"

bench::Device bench::open_device() {
    const auto queue = std::make_shared<HostQueue>();
    queue->device.block_threads = 32; // a warp: those of a larger block would have to do the same
    return {queue, false};
}
