// The GPUs that draw a run's samples.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/input/options.hpp"
#include "lib/run/gpu_queues.hpp"
#include "lib/run/run_control.hpp"
#include "lib/samples/sampler_on_device.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class SampleDevices {
  public:
    // Those that the options name. seconds: of the run's samples, as predicted.
    SampleDevices(const Options &options, double seconds);
    SampleDevices(DeviceQueues queues, bool is_required); // for tests

    double seconds() const { return seconds_; }

    // What SamplerOnDevice tells, each device taking a share of the chunks; progress is a chunk. False: they
    // cannot, and nothing was told; where a GPU was named, Error is thrown.
    bool draw(const Potential &potential, std::uint64_t seed, std::uint64_t first, std::span<double> samples,
              RunControl &control);
    bool tally(const Potential &potential, std::uint64_t seed, std::uint64_t first,
               std::span<const double> bets, std::span<double> told, RunControl &control);

  private:
    void open(const Potential &potential);
    template <class Take>
    bool share(const Potential &potential, std::uint64_t count, const Take &take, RunControl &control);

    std::unique_ptr<GpuQueues> gpus_;
    DeviceQueues queues_;
    bool is_required_, has_failed_ = false;
    double seconds_ = 0;
    const Potential *of_ = nullptr; // whose samples they draw now
    std::vector<std::unique_ptr<SamplerOnDevice>> samplers_;
};

struct SamplesDrawn {
    std::unique_ptr<SampleDevices> devices; // none: the processor draws
    double seconds = 0;                     // as predicted
};

// Where samples are drawn that take `seconds` of one thread, or seconds_on() of one GPU once it has begun.
// Throws Error where a GPU is named and there is none.
SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options);

} // namespace libperm
