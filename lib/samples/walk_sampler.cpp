#include "lib/samples/walk_sampler.hpp"

#include "jit/driver/jit_error.hpp"
#include "jit/kernel/matchings.hpp"
#include "jit/lanes/matching_walk.hpp"
#include "jit/text/text.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/parallel.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace libperm {

namespace {
constexpr std::size_t lanes = walk_lanes;

AlignedDoubles rows_left(std::int32_t rows) {
    return aligned_doubles(std::max(static_cast<std::size_t>(rows) * lanes, lanes));
}

constexpr std::uint64_t drawn = Sampler::chunk_samples;
static_assert(drawn == tally_samples);

// Threads whose rows fit a block's shared memory.
unsigned threads_for(const DeviceQueue &queue, std::int32_t rows) {
    const DeviceLimits limits = queue.limits();
    unsigned threads = queue.block_threads(draw_threads);
    while (threads >= limits.warp && draw_shared_bytes(rows, threads) > limits.shared_bytes) threads /= 2;
    if (threads < limits.warp)
        throw JitError(JitFailure::unavailable,
                       formatted("{} rows are more than its shared memory keeps", rows));
    return threads;
}

template <class T> void bring_in(DeviceQueue &queue, DeviceArray &to, std::span<const T> from) {
    to.reserve(from.size_bytes());
    queue.copy_in(to.address(), from.data(), from.size_bytes());
}

} // namespace

void Sampler::begin(std::uint64_t seed, std::uint64_t sample, WalkLanes &walk, double *left) const {
    Randomness words(seed, sample);
    for (auto &word : walk.random)
        for (std::uint64_t &x : word) x = words.next();
    walk.product.fill(1);
    walk.slack.fill(0);
    std::fill_n(left, static_cast<std::size_t>(rows_) * lanes, 1.0);
}

void Sampler::draw(std::uint64_t seed, std::uint64_t number, std::span<double> samples) const {
    const AlignedDoubles left = rows_left(rows_);
    WalkLanes walk;
    for (std::size_t first = 0; first < samples.size(); first += lanes) {
        begin(seed, number * chunk_samples + first, walk, left.get());
        for (std::size_t begin = 0; begin < steps_.size(); begin += between_foldings) {
            const std::size_t count = std::min(between_foldings, steps_.size() - begin);
            walk_matchings(std::span(steps_).subspan(begin, count), left.get(), walk);
            bool all_are_0 = true;
            for (std::size_t k = 0; k < lanes; ++k) {
                walk.product[k] *= walk_value::exponential(walk.slack[k]);
                walk.slack[k] = 0;
                all_are_0 = all_are_0 && walk.product[k] == 0;
            }
            if (all_are_0) break;
        }
        for (std::size_t k = 0; k < std::min(lanes, samples.size() - first); ++k)
            samples[first + k] = std::min(1.0, walk.product[k]);
    }
}

std::vector<std::int32_t> Sampler::rows_of(std::uint64_t seed, std::uint64_t number,
                                           std::size_t sample) const {
    const AlignedDoubles left = rows_left(rows_);
    WalkLanes walk;
    const std::size_t lane = sample % lanes;
    begin(seed, number * chunk_samples + (sample - lane), walk, left.get());
    std::vector<std::int32_t> out;
    for (std::size_t t = 0; t < steps_.size(); ++t) {
        const WalkStep &step = steps_[t];
        const auto is_left = [&](std::int32_t row) {
            return left.get()[static_cast<std::size_t>(row) * lanes + lane];
        };
        std::vector<double> before;
        for (const std::int32_t row : step.rows) before.push_back(is_left(row));
        walk_matchings(std::span(steps_).subspan(t, 1), left.get(), walk);
        std::int32_t taken = -1;
        for (std::size_t k = 0; k < step.rows.size(); ++k)
            if (before[k] != is_left(step.rows[k])) taken = step.rows[k];
        out.push_back(taken);
    }
    return out;
}

// On one thread, measured (docs/benchmarks.md).
double Sampler::seconds_of_chunk(const Potential &potential) {
    constexpr double of_entry = 0.2e-9, of_step = 0.8e-9;
    return static_cast<double>(chunk_samples) * (of_entry * static_cast<double>(potential.entries()) +
                                                 of_step * static_cast<double>(potential.n()));
}

SamplerOnDevice::SamplerOnDevice(DeviceQueue &queue, const Potential &potential)
    : queue_(queue),
      rows_(static_cast<std::uint32_t>(potential.n())),
      threads_(threads_for(queue, potential.n())),
      entries_(queue),
      first_(queue),
      samples_(queue),
      bets_(queue),
      told_(queue) {
    std::vector<DrawEntry> entries;
    std::vector<std::uint32_t> first{0};
    for (const WalkStep &step : potential.steps()) {
        for (std::size_t k = 0; k < step.rows.size(); ++k) {
            const auto row = static_cast<std::uint32_t>(step.rows[k]);
            entries.push_back({step.weights[k], row / 32, std::uint32_t{1} << row % 32});
        }
        while (entries.size() % entries_together != 0) entries.emplace_back();
        first.push_back(static_cast<std::uint32_t>(entries.size()));
    }
    steps_ = static_cast<std::uint32_t>(first.size() - 1);
    queue.load(matching_walk_kernels());
    queue.allow_shared(draw_entry, queue.limits().shared_bytes);
    bring_in(queue, entries_, std::span<const DrawEntry>(entries));
    bring_in(queue, first_, std::span<const std::uint32_t>(first));
}

void SamplerOnDevice::draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
    samples_.reserve(count * drawn * sizeof(double));
    DrawLaunch launch{entries_.address(),
                      first_.address(),
                      samples_.address(),
                      seed,
                      first * drawn,
                      count * drawn,
                      steps_,
                      rows_};
    const std::array<void *, 1> arguments{&launch};
    const std::size_t shared = draw_shared_bytes(static_cast<std::int32_t>(rows_), threads_);
    const std::uint64_t blocks = (launch.count + threads_ - 1) / threads_;
    queue_.launch(draw_entry, static_cast<unsigned>(blocks), threads_, arguments, shared);
}

void SamplerOnDevice::draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count,
                           std::span<double> samples) {
    draw(seed, first, count);
    queue_.copy_out(samples.data(), samples_.address(), count * drawn * sizeof(double));
}

void SamplerOnDevice::tally(std::uint64_t seed, std::uint64_t first, std::uint64_t count,
                            std::span<const double> bets, std::span<double> told) {
    const std::size_t bytes = count * tally_doubles(bets.size()) * sizeof(double);
    draw(seed, first, count);
    bring_in(queue_, bets_, bets);
    told_.reserve(bytes);
    TallyLaunch launch{samples_.address(), bets_.address(), told_.address(),
                       static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(bets.size())};
    const std::array<void *, 1> arguments{&launch};
    queue_.launch(tally_entry, static_cast<unsigned>(count), queue_.block_threads(tally_threads), arguments);
    queue_.copy_out(told.data(), told_.address(), bytes);
}

// Clocks of a multiprocessor, on an H200 (docs/benchmarks.md).
double SamplerOnDevice::seconds_of_chunk(const Potential &potential, const GpuProperties &gpu) {
    constexpr double of_entry = 0.21, of_step = 0.6;
    return static_cast<double>(drawn) *
           (of_entry * static_cast<double>(potential.entries()) +
            of_step * static_cast<double>(potential.n())) /
           (gpu.clock_hz * gpu.multiprocessors);
}

SampleDevices::SampleDevices(const Options &options)
    : gpus_(std::make_unique<GpuQueues>(options)),
      queues_(gpus_->when_needed()),
      is_required_(options.device == Device::gpu) {}

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
bool SampleDevices::share(const Potential &potential, std::uint64_t count, const Take &take) {
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
                call().advance(static_cast<double>(std::min(launch_chunks, end - k)));
            }
        });
    };
    has_failed_ = !run_on_gpu("the samples are drawn", is_required_, run);
    return !has_failed_;
}

bool SampleDevices::draw(const Potential &potential, std::uint64_t seed, std::uint64_t first,
                         std::span<double> samples) {
    constexpr std::size_t chunk = Sampler::chunk_samples;
    const auto take = [&](SamplerOnDevice &sampler, std::uint64_t k, std::uint64_t count) {
        sampler.draw(seed, first + k, count, samples.subspan(k * chunk, count * chunk));
    };
    return share(potential, samples.size() / chunk, take);
}

bool SampleDevices::tally(const Potential &potential, std::uint64_t seed, std::uint64_t first,
                          std::span<const double> bets, std::span<double> told) {
    const std::size_t doubles = tally_doubles(bets.size());
    const auto take = [&](SamplerOnDevice &sampler, std::uint64_t k, std::uint64_t count) {
        sampler.tally(seed, first + k, count, bets, told.subspan(k * doubles, count * doubles));
    };
    return share(potential, told.size() / doubles, take);
}

SamplesDrawn choose_device(double seconds, const std::function<double(const GpuProperties &)> &seconds_on,
                           const Options &options) {
    const Placement chosen = place(
        {"the samples are drawn", seconds / options.threads, gpu_start::open, seconds_on, 0, true}, options);
    if (!chosen.on_gpu) return {nullptr, chosen.seconds};
    return {std::make_unique<SampleDevices>(options), chosen.seconds};
}

void WalkPart::add(const WalkPart &more) {
    values += more.values;
    shots.numbers.insert(shots.numbers.end(), more.shots.numbers.begin(), more.shots.numbers.end());
}

WalkPlan::WalkPlan(const LogMatrix &a, std::int64_t shots, std::uint64_t seed, const Options &within)
    : rows_(a.n()), shots_(shots), seed_(seed), by_columns_(a) {
    constexpr std::uint64_t pilot = 8; // chunks
    Potential by_rows(transposed(a));
    is_transposed_ = by_rows.log_bound() < by_columns_.log_bound();
    if (is_transposed_) by_columns_ = std::move(by_rows);
    sampler_.emplace(by_columns_);
    const auto most = std::min<std::int64_t>(shots, pilot * chunk);
    const Charge charge(&call().memory(), 2 * std::int64_t{sizeof(std::int32_t)} * rows_ * most);
    std::vector<WalkPart> parts(pilot, nothing());
    uncounted([&] { draw(0, nullptr, parts); });
    WalkPart all = nothing();
    for (const WalkPart &one : parts) all.add(one);
    rate_ = {all.values, pilot};
    found_ = std::move(all.shots.numbers);
    const std::int64_t left = shots - static_cast<std::int64_t>(found_.size()) / rows_;
    if (left <= 0) return;
    chunks_ = static_cast<std::uint64_t>(rate_.chunks_for(left));
    seconds_ = drawn_where(rate_.chunks_for(left), within).seconds;
    rate_.refuse_if_longer(left, seconds_, within);
}

SamplesDrawn WalkPlan::drawn_where(double chunks, const Options &options) const {
    const auto on_gpu = [&](const GpuProperties &gpu) {
        return chunks * SamplerOnDevice::seconds_of_chunk(by_columns_, gpu);
    };
    return choose_device(chunks * seconds_of_chunk(), on_gpu, options);
}

void WalkPlan::draw(std::uint64_t first, SampleDevices *devices, std::span<WalkPart> parts) const {
    std::vector<double> drawn(devices ? parts.size() * chunk : 0);
    const bool is_drawn = devices && devices->draw(by_columns_, seed_, first, drawn);
    parallel_for(parts.size(), [&](std::uint64_t k) {
        if (is_drawn) {
            poll();
            return accept(first + k, std::span(drawn).subspan(k * chunk, chunk), parts[k]);
        }
        std::vector<double> values(chunk);
        sampler_->draw(seed_, first + k, values);
        accept(first + k, values, parts[k]);
        call().advance(1);
    });
}

// No more than there are to be.
void WalkPlan::accept(std::uint64_t number, std::span<const double> values, WalkPart &part) const {
    std::vector<std::int32_t> &columns = part.shots.numbers;
    std::int64_t taken = 0;
    for (std::size_t k = 0; k < chunk; ++k) {
        part.values += values[k];
        if (taken == shots_ || values[k] == 0 ||
            !(Randomness(~seed_, number * chunk + k).uniform() < values[k]))
            continue;
        ++taken;
        const std::vector<std::int32_t> rows = sampler_->rows_of(seed_, number, k);
        const std::size_t first = columns.size();
        columns.resize(first + rows.size());
        for (std::size_t t = 0; t < rows.size(); ++t) {
            const std::int32_t column = by_columns_.columns()[t];
            const auto [i, j] = is_transposed_ ? std::pair(column, rows[t]) : std::pair(rows[t], column);
            columns[first + static_cast<std::size_t>(i)] = j;
        }
    }
}

double WalkRate::chunks_for(std::int64_t shots) const {
    constexpr double most_chunks = 0x1p40;
    return values > 0 ? std::min(1.1 * static_cast<double>(shots) * chunks / values + 1, most_chunks)
                      : most_chunks;
}

void WalkRate::refuse_if_longer(std::int64_t shots, double seconds, const Options &options) const {
    if (seconds > options.refuse_seconds)
        throw Error(
            PERM_REFUSED_TIME,
            formatted("the frontier does not fit the memory, and of {:.3g} walks {:.3g} are accepted: {} "
                      "samples "
                      "are predicted to take {}, {} is the limit\n  raise the limit: time_limit_seconds",
                      chunks * static_cast<double>(WalkPlan::chunk), values, shots, readable_seconds(seconds),
                      readable_seconds(options.refuse_seconds)));
}

NumberedPieces WalkPlan::pieces_of(std::uint64_t chunks) {
    return NumberedPieces::of_length(chunks, std::bit_floor(std::max<std::uint64_t>(1, chunks / 512)));
}

WalkSampler::WalkSampler(const WalkPlan &plan, const Options &options, const PieceScope &scope)
    : plan_(plan),
      rows_(plan.rows()),
      options_(options),
      scope_(scope),
      rate_(plan.rate()),
      promised_(rate_.chunks + static_cast<double>(plan.chunks())),
      found_(plan.found()) {}

void WalkSampler::reach(std::int64_t first, std::int64_t count) {
    found_.erase(found_.begin(), found_.begin() + (std::min(first - first_, there()) * rows_));
    first_ = first;
    while (there() < count) {
        walk(static_cast<std::uint64_t>(rate_.chunks_for(count - there())));
        if (scope_.store && scope_.store->is_of_one_shard()) return;
    }
}

// Where so many chunks are walked that follow.
void WalkSampler::place(double chunks) {
    if (!drawn_.devices) {
        drawn_ = plan_.drawn_where(chunks, options_);
        of_chunk_ = drawn_.seconds / chunks;
    }
    rate_.refuse_if_longer(left(), of_chunk_ * chunks, options_);
}

void WalkSampler::walk(std::uint64_t chunks) {
    constexpr double kept_seconds = 0.5; // about, after which pieces are kept
    const double of_chunk = plan_.seconds_of_chunk();
    const auto first = static_cast<std::uint64_t>(rate_.chunks);
    const NumberedPieces pieces = WalkPlan::pieces_of(chunks);
    if (const double needed = rate_.chunks + static_cast<double>(chunks); needed > promised_) {
        call().expect_more((needed - promised_) * of_chunk);
        promised_ = needed;
    }
    const CurrentCall along(1, scope_);
    const auto draw = [&](std::uint64_t chunk, std::span<WalkPart> parts) {
        const CurrentCall by_chunks(of_chunk);
        plan_.draw(first + chunk, drawn_.devices.get(), parts);
    };
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        double wanted = scope_.store ? 0 : rate_.chunks_for(left());
        for (const std::uint64_t k : todo) wanted += scope_.store ? pieces[k].size() : 0;
        place(wanted);
        // What comes through is walked again, with all that go beside it.
        const double again = rate_.values / rate_.chunks * walk_lanes / WalkPlan::chunk;
        const double at_once = drawn_.devices ? static_cast<double>(most_chunks_at_once)
                                              : kept_seconds * options_.threads / (of_chunk * (1 + again));
        const auto of = [&](std::uint64_t k) { return pieces[k]; };
        made_of_chunks(plan_.nothing(), at_once, of, draw,
                       [](WalkPart &all, const WalkPart &more) { all.add(more); })(todo, done);
    };
    const std::vector<WalkPart> parts =
        parts_of_pieces(pieces.count(), of_chunk * pieces[0].size(), plan_.nothing(), compute);
    std::size_t size = found_.size();
    for (const WalkPart &part : parts) size += part.shots.numbers.size();
    found_.reserve(size); // from here on nothing throws
    for (const WalkPart &part : parts) {
        rate_.values += part.values;
        found_.insert(found_.end(), part.shots.numbers.begin(), part.shots.numbers.end());
    }
    rate_.chunks += static_cast<double>(chunks);
    ++scope_.task.attempt;
}

} // namespace libperm
