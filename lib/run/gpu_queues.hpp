// The GPUs of a run, each as a queue of its work.
#pragma once

#include "jit/queue/device_queues.hpp"

#include <memory>
#include <vector>

namespace libperm {

class GpuQueue;
struct Options;

// A queue for each GPU that the options name, opened when the first is asked for, by one thread.
class GpuQueues {
  public:
    explicit GpuQueues(const Options &options);
    ~GpuQueues();
    DeviceQueue &first() { return *all().front(); }
    DeviceQueues when_needed() {
        return DeviceQueues([this] { return all(); });
    }
    // These count what was compiled on the way.
    double compile_seconds() const;
    int kernels_compiled() const;

  private:
    std::vector<DeviceQueue *> all();

    const Options &options_;
    std::vector<std::unique_ptr<GpuQueue>> queues_;
};

} // namespace libperm
