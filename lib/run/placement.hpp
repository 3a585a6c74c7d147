// Where work runs: on the processor's threads, or on the GPUs that the options name. What limits forbid, in
// words; and what follows where a GPU fails.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

struct DeviceQueues;

struct Work {
    std::string what;                                            // "periodic: "
    double cpu_seconds = 0;                                      // on the threads that the options allow
    double gpu_start = 0;                                        // seconds before a GPU begins
    std::function<double(const GpuProperties &)> seconds_on_gpu; // on one, once it has begun
    double gpu_bytes = 0;
    bool is_shared = false; // among all GPUs that the options name
};

struct Placement {
    bool on_gpu = false;
    double seconds = 0; // as predicted
};

// By what is named, else where the work is predicted to be done sooner. A driver is looked for only if the
// processor takes longer than a GPU takes to begin. Throws Error where a GPU is named and there is none.
Placement place(const Work &work, const Options &options);

// Runs `on_gpu`, and where the GPU fails (it may have less memory left than it has): throws Error if a GPU is
// named; else logs a warning and returns false, and the processor is to do the work.
bool run_on_gpu(const std::string &what, const Options &options, const std::function<void()> &on_gpu);
bool run_on_gpu(const std::string &what, bool is_named, const std::function<void()> &on_gpu);

// Of one of several devices, or one `alone`: whether an error is its own, so that the others may go on
// without it, of which a warning is logged.
bool is_of_its_device(const std::exception_ptr &error, bool alone);

// Places the work and runs it, with the GPUs' queues or with null; once more with null where a GPU fails.
void run_placed(const Work &work, const Options &options,
                const std::function<void(const DeviceQueues *)> &run);

// "predicted to take 3 h on 8 threads, 1 h is the limit"; `where` may be empty.
std::string beyond_time_limit(double seconds, const Options &options, const std::string &where = {});
// "WHAT predicted to ...", and how to go on.
Error refused_for_time(const std::string &what, double seconds, const Options &options,
                       const std::string &advice = "raise the limit: time_limit_seconds");
// "WHAT; 8 GB is the limit", and how to go on.
Error refused_for_memory(const std::string &what, double limit, const std::string &advice);

// The GPUs of a run, each as a queue of its work.

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

// What an engine has on each of the devices that share a run's pieces: made when the device is first asked
// for some, so that none is opened where nothing is left to do.

template <class OnDevice> class OnEachDevice {
  public:
    using Make = std::function<std::unique_ptr<OnDevice>(DeviceQueue &)>;
    OnEachDevice(const DeviceQueues &queues, Make make) : queues_(queues), make_(std::move(make)) {}

    // most(device): of the pieces that it takes at once; run(device, pieces).
    template <class Most, class Run>
    void share(std::span<const std::uint64_t> todo, const Most &most, const Run &run) {
        devices_.resize(queues_.count());
        share_out(todo, devices_.size(),
                  {[&](std::size_t d) { return most(device(d)); },
                   [&](std::size_t d, std::span<const std::uint64_t> pieces) { run(device(d), pieces); },
                   [&](std::size_t, const std::exception_ptr &error) {
                       return is_of_its_device(error, devices_.size() == 1);
                   }});
    }

    std::size_t count() const { return queues_.count(); }
    std::int64_t peak_bytes() const {
        std::int64_t bytes = 0;
        for (const auto &device : devices_) bytes += device ? device->peak_bytes() : 0;
        return bytes;
    }

  private:
    OnDevice &device(std::size_t d) {
        if (!devices_[d]) devices_[d] = make_(queues_[d]);
        return *devices_[d];
    }

    const DeviceQueues &queues_;
    const Make make_;
    std::vector<std::unique_ptr<OnDevice>> devices_;
};

} // namespace libperm
