#include "lib/samples/walk_sampler.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/samples/sample_devices.hpp"
#include "lib/samples/sampler.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>

namespace libperm {
namespace {

constexpr std::size_t chunk = Sampler::chunk_samples;

LogMatrix logarithms(const Pattern &a, const std::vector<Tracked> &entries) {
    LogMatrix out{a, {}};
    for (const Tracked &x : entries)
        out.log.push_back(std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2);
    return out;
}

} // namespace

class WalkSampler::Rejection {
  public:
    Rejection(const Pattern &a, const std::vector<Tracked> &entries, std::uint64_t seed, const Poll &poll)
        : seed_(seed), by_columns_(logarithms(a, entries), poll) {
        Potential by_rows(transposed(logarithms(a, entries)), poll);
        is_transposed_ = by_rows.log_bound() < by_columns_.log_bound();
        if (is_transposed_) by_columns_ = std::move(by_rows);
        sampler_.emplace(by_columns_);
    }
    Rejection(const Rejection &) = delete;
    Rejection &operator=(const Rejection &) = delete;

    SamplesDrawn drawn_where(double chunks, const Options &options) const {
        const auto on_gpu = [&](const GpuProperties &gpu) {
            return chunks * SamplerOnDevice::seconds_of_chunk(by_columns_, gpu);
        };
        return choose_device(chunks * Sampler::seconds_of_chunk(by_columns_), on_gpu, options);
    }

    // Of the walks of chunks those that come through, of each chunk the first `most`, by the column of each
    // row; and how many would on average.
    void draw(std::uint64_t first, std::uint64_t most, SampleDevices *devices,
              std::span<std::vector<std::int32_t>> columns, std::span<double> sums,
              RunControl &control) const {
        std::vector<double> drawn(devices ? columns.size() * chunk : 0);
        if (devices && devices->draw(by_columns_, seed_, first, drawn, control)) {
            parallel_for(columns.size(), [&](std::uint64_t k) {
                control.poll();
                sums[k] = accept(first + k, most, std::span(drawn).subspan(k * chunk, chunk), columns[k]);
            });
            return;
        }
        parallel_for(columns.size(), [&](std::uint64_t k) {
            std::vector<double> values(chunk);
            sampler_->draw(seed_, first + k, values);
            sums[k] = accept(first + k, most, values, columns[k]);
            control.advance(1);
        });
    }

  private:
    double accept(std::uint64_t number, std::uint64_t most, std::span<const double> values,
                  std::vector<std::int32_t> &columns) const {
        double sum = 0;
        std::uint64_t taken = 0;
        for (std::size_t k = 0; k < chunk; ++k) {
            sum += values[k];
            if (taken == most || values[k] == 0 ||
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
        return sum;
    }

    std::uint64_t seed_;
    Potential by_columns_; // or of the transpose
    bool is_transposed_ = false;
    std::optional<Sampler> sampler_;
};

struct WalkSampler::Draws : SamplesDrawn {
    double of_chunk = 0; // seconds
};

WalkSampler::WalkSampler(const Pattern &a, const std::vector<Tracked> &entries, std::int64_t shots,
                         std::uint64_t seed, const Options &options, const Options &within,
                         RunControl &control)
    : rows_(a.rows),
      shots_(shots),
      options_(options),
      within_(within),
      control_(control),
      rejection_(std::make_unique<Rejection>(a, entries, seed, [&control] { control.poll(); })),
      draws_(std::make_unique<Draws>()),
      charge_(&control.memory()) {
    constexpr std::uint64_t pilot = 8; // chunks
    charge_.resize(bytes_of(std::min<std::int64_t>(shots, pilot * chunk)));
    walk(pilot);
    predict(within_);
}

WalkSampler::~WalkSampler() = default;

void WalkSampler::reach(std::int64_t first, std::int64_t count) {
    constexpr double most_at_once = 4096; // chunks
    found_.erase(found_.begin(), found_.begin() + (std::min(first - first_, there()) * rows_));
    first_ = first;
    while (there() < count) {
        predict(options_);
        charge_.resize(bytes_of(std::max(count, there())));
        walk(static_cast<std::uint64_t>(std::min(chunks_for(count - there()), most_at_once)));
    }
}

// Shots are held as they are found, and all together.
std::int64_t WalkSampler::bytes_of(std::int64_t shots) const {
    return 2 * std::int64_t{sizeof(std::int32_t)} * rows_ * shots;
}

// How many chunks are expected to be wanted, so that few are drawn in vain; what they are does not matter.
double WalkSampler::chunks_for(std::int64_t shots) const {
    constexpr double most_chunks = 0x1p40;
    return values_ > 0 ? std::min(1.1 * static_cast<double>(shots) * chunks_ / values_ + 1, most_chunks)
                       : most_chunks;
}

void WalkSampler::predict(const Options &within) {
    if (left() <= 0) return;
    const double wanted = chunks_for(left());
    if (!draws_->devices) {
        static_cast<SamplesDrawn &>(*draws_) = rejection_->drawn_where(wanted, within);
        draws_->of_chunk = draws_->seconds / wanted;
    }
    seconds_ = draws_->of_chunk * wanted;
    if (seconds_ > within.refuse_seconds)
        throw Error(
            PERM_REFUSED_TIME,
            formatted("the frontier does not fit the memory, and of {:.3g} walks {:.3g} are accepted: {} "
                      "samples "
                      "are predicted to take {}, {} is the limit\n  raise the limit: time_limit_seconds",
                      chunks_ * static_cast<double>(chunk), values_, left(), readable_seconds(seconds_),
                      readable_seconds(within.refuse_seconds)));
}

void WalkSampler::walk(std::uint64_t chunks) {
    std::vector<std::vector<std::int32_t>> found(chunks);
    std::vector<double> sums(chunks);
    RunControl seconds(control_, draws_->of_chunk);
    rejection_->draw(static_cast<std::uint64_t>(chunks_), static_cast<std::uint64_t>(left()),
                     draws_->devices.get(), found, sums, seconds);
    std::size_t size = found_.size();
    for (const auto &one : found) size += one.size();
    found_.reserve(size); // from here on nothing throws
    for (std::uint64_t k = 0; k < chunks; ++k) {
        values_ += sums[k];
        found_.insert(found_.end(), found[k].begin(), found[k].end());
    }
    chunks_ += static_cast<double>(chunks);
}

} // namespace libperm
