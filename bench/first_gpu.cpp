#include "bench/device.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/run/gpu_device.hpp"

#include <stdexcept>

namespace bench {
namespace {

using namespace libperm;

struct Opened {
    Gpu::Current current;
    GpuQueue queue;

    explicit Opened(const std::shared_ptr<const Gpu> &gpu) : current(*gpu), queue(gpu, {}) {}
};

} // namespace

Device open_device() {
    const GpuChoice choice = first_gpu();
    if (!choice.gpu) throw std::runtime_error(choice.why_not);
    const auto opened = std::make_shared<Opened>(choice.gpu);
    return {{opened, &opened->queue}, true};
}

} // namespace bench
