// The samples of lib/samples/sampler.hpp drawn on a GPU, with the same bits.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/bounds/potential.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

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

} // namespace libperm
