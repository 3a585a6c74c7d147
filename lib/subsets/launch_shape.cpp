#include "lib/subsets/launch_shape.hpp"

#include "jit/driver/jit_error.hpp"

namespace libperm {

LaunchShape widest_shape(const SubsetKernel &kernel, DeviceQueue &queue) {
    const DeviceLimits limits = queue.limits();
    const auto shared = [&](int threads) { return shared_bytes(kernel, threads); };
    const bool any_size = kernel.engine == SubsetEngine::shared; // the others' registers are given for one
    const int warp = static_cast<int>(limits.warp), least = any_size ? warp : kernel.threads;
    int most = kernel.threads;
    while (most >= least && shared(most) > limits.shared_bytes) most -= warp;
    if (most >= least)
        queue.allow_shared(walk_entry(kernel), shared(most)); // whatever is widest: calls share it
    LaunchShape best;
    for (int threads = least; threads <= most; threads += warp) {
        LaunchShape shape{static_cast<unsigned>(threads), 0, shared(threads)};
        shape.blocks = queue.blocks_at_once(walk_entry(kernel), shape.threads, shape.shared);
        if (shape.all() > best.all()) best = shape;
    }
    if (best.all() == 0)
        throw JitError(JitFailure::device, std::string("no block of engine ") +
                                               subset_engine_name(kernel.engine) +
                                               " fits a multiprocessor of " + limits.device);
    return best;
}

} // namespace libperm
