#include "lib/samples/sample_devices.hpp"

#include "jit/lanes/bet_tally.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/sampler.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>

namespace libperm {

SampleDevices::SampleDevices(const Options &options, double seconds)
    : gpus_(std::make_unique<GpuQueues>(options)),
      queues_(gpus_->when_needed()),
      is_required_(options.device == Device::gpu),
      seconds_(seconds) {}

SampleDevices::SampleDevices(DeviceQueues queues, bool is_required)
    : queues_(std::move(queues)), is_required_(is_required) {}

void SampleDevices::open(const Potential &potential) {
    if (of_ == &potential) return;
    samplers_.clear();
    of_ = nullptr;
    for (DeviceQueue *queue : queues_.all())
        samplers_.push_back(std::make_unique<SamplerOnDevice>(*queue, potential));
    of_ = &potential;
}

// take(sampler, first, count): chunks from that one on. In launches of a tenth of a second, about.
template <class Take>
bool SampleDevices::share(const Potential &potential, std::uint64_t count, const Take &take,
                          RunControl &control) {
    constexpr double entries_of_launch = 5e10;
    if (has_failed_) return false;
    const auto run = [&] {
        open(potential);
        const auto launch_chunks = static_cast<std::uint64_t>(std::max(
            1.0, entries_of_launch / static_cast<double>(potential.entries() * Sampler::chunk_samples)));
        const std::uint64_t devices = samplers_.size();
        parallel_for(devices, [&](std::uint64_t d) {
            const std::uint64_t end = count * (d + 1) / devices;
            for (std::uint64_t k = count * d / devices; k < end; k += launch_chunks) {
                take(*samplers_[d], k, std::min(launch_chunks, end - k));
                control.advance(static_cast<double>(std::min(launch_chunks, end - k)));
            }
        });
    };
    has_failed_ = !run_on_gpu("the samples are drawn", is_required_, run);
    return !has_failed_;
}

bool SampleDevices::draw(const Potential &potential, std::uint64_t seed, std::uint64_t first,
                         std::span<double> samples, RunControl &control) {
    constexpr std::size_t chunk = Sampler::chunk_samples;
    const auto take = [&](SamplerOnDevice &sampler, std::uint64_t k, std::uint64_t count) {
        sampler.draw(seed, first + k, count, samples.subspan(k * chunk, count * chunk));
    };
    return share(potential, samples.size() / chunk, take, control);
}

bool SampleDevices::tally(const Potential &potential, std::uint64_t seed, std::uint64_t first,
                          std::span<const double> bets, std::span<double> told, RunControl &control) {
    const std::size_t doubles = tally_doubles(bets.size());
    const auto take = [&](SamplerOnDevice &sampler, std::uint64_t k, std::uint64_t count) {
        sampler.tally(seed, first + k, count, bets, told.subspan(k * doubles, count * doubles));
    };
    return share(potential, told.size() / doubles, take, control);
}

SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options) {
    const Placement chosen = place(
        {"the samples are drawn", seconds / options.threads, gpu_start::open, seconds_on, 0, true}, options);
    if (!chosen.on_gpu) return {nullptr, chosen.seconds};
    return {std::make_unique<SampleDevices>(options, chosen.seconds), chosen.seconds};
}

} // namespace libperm
