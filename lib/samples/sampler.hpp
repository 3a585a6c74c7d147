// Samples of numbers from [0, 1] whose mean is perm(A) over a bound of it: on the processor, and on GPUs
// with the same bits.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/input/options.hpp"
#include "lib/run/call.hpp"
#include "lib/run/placement.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class Sampler {
  public:
    static constexpr std::size_t chunk_samples = 2048;

    explicit Sampler(const Potential &potential) : rows_(potential.n()), steps_(potential.steps()) {}

    // Chunk `number` of `chunk_samples` samples, always the same ones.
    void draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const;

    // The way of one of them, which is not 0: the row that each step gave its column to.
    std::vector<std::int32_t> rows_of(std::uint64_t seed, std::uint64_t number, std::size_t sample) const;

    static double seconds_of_chunk(const Potential &potential);

  private:
    // Before the first step of the walks from `sample` on: which rows are left, and the random numbers.
    void begin(std::uint64_t seed, std::uint64_t sample, WalkLanes &walk, double *left) const;

    std::int32_t rows_;
    std::vector<WalkStep> steps_;
};

// On one.
class SamplerOnDevice {
  public:
    // Throws JitError, as all that follows does.
    SamplerOnDevice(DeviceQueue &queue, const Potential &potential);

    // Samples of `count` chunks from `first` on.
    void draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count, std::span<double> samples);

    // Of each what tally_bets tells.
    void tally(std::uint64_t seed, std::uint64_t first, std::uint64_t count, std::span<const double> bets,
               std::span<double> told);

    // On a warm GPU, as predicted.
    static double seconds_of_chunk(const Potential &potential, const GpuProperties &gpu);

  private:
    void draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count);

    DeviceQueue &queue_;
    std::uint32_t rows_, steps_;
    unsigned threads_;
    DeviceArray entries_, first_, samples_, bets_, told_;
};

// On those that draw a run's samples.
class SampleDevices {
  public:
    explicit SampleDevices(const Options &options);       // those that they name
    SampleDevices(DeviceQueues queues, bool is_required); // for tests

    // What SamplerOnDevice tells, each device taking a share of the chunks; progress is a chunk. False: they
    // cannot, and nothing was told; where a GPU was named, Error is thrown.
    bool draw(const Potential &potential, std::uint64_t seed, std::uint64_t first, std::span<double> samples);
    bool tally(const Potential &potential, std::uint64_t seed, std::uint64_t first,
               std::span<const double> bets, std::span<double> told);

  private:
    void open(const Potential &potential);
    template <class Take> bool share(const Potential &potential, std::uint64_t count, const Take &take);

    std::unique_ptr<GpuQueues> gpus_;
    DeviceQueues queues_;
    bool is_required_, has_failed_ = false;
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
