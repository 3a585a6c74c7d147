#include "lib/samples/walk_sampler.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/estimates/device_choice.hpp"
#include "lib/estimates/sampler.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>

namespace libperm {
namespace {

constexpr std::size_t chunk = Sampler::at_once;

LogMatrix logarithms(const Pattern &a, const std::vector<Tracked> &entries) {
    LogMatrix out{a, {}};
    for (const Tracked &x : entries)
        out.log.push_back(std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2);
    return out;
}

class Rejection {
  public:
    Rejection(const Pattern &a, const std::vector<Tracked> &entries, std::uint64_t seed, const Poll &poll)
        : seed_(seed), by_columns_(logarithms(a, entries), poll) {
        Potential by_rows(transposed(logarithms(a, entries)), poll);
        is_transposed_ = by_rows.log_bound() < by_columns_.log_bound();
        if (is_transposed_) by_columns_ = std::move(by_rows);
        sampler_.emplace(by_columns_);
    }

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

} // namespace

std::vector<std::int32_t> walk_samples(const Pattern &a, const std::vector<Tracked> &entries,
                                       std::int64_t shots, std::uint64_t seed, const Options &options,
                                       RunControl &control) {
    constexpr std::uint64_t pilot = 8, most_at_once = 4096; // chunks
    constexpr double most_chunks = 0x1p40;
    const Rejection rejection(a, entries, seed, [&control] { control.poll(); });
    const std::size_t size = static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(shots);
    std::vector<std::int32_t> out;
    double values = 0, chunks = 0;
    SamplesDrawn drawn;
    double of_chunk = 0; // seconds
    Options pilot_options = options;
    pilot_options.device = Device::cpu;
    while (out.size() < size) {
        // As many as are expected to be wanted, so that few are drawn in vain; what they are does not matter.
        const double left = static_cast<double>(size - out.size()) / a.rows,
                     wanted = chunks == 0  ? static_cast<double>(pilot)
                              : values > 0 ? std::min(1.1 * left * chunks / values + 1, most_chunks)
                                           : most_chunks;
        if (!drawn.devices) {
            drawn = rejection.drawn_where(wanted, chunks == 0 ? pilot_options : options);
            of_chunk = drawn.seconds / wanted;
        }
        const double seconds = of_chunk * wanted;
        if (chunks > 0 && seconds > options.refuse_seconds)
            throw Error(
                PERM_REFUSED_TIME,
                formatted("the frontier does not fit the memory, and of {:.3g} walks {:.3g} are accepted: {} "
                          "samples "
                          "are predicted to take {}, {} is the limit\n  raise the limit: time_limit_seconds",
                          chunks * static_cast<double>(chunk), values, shots, readable_seconds(seconds),
                          readable_seconds(options.refuse_seconds)));
        if (chunks <= pilot) control.begin(wanted, seconds);
        const auto first = static_cast<std::uint64_t>(chunks),
                   count = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(most_at_once)));
        std::vector<std::vector<std::int32_t>> found(count);
        std::vector<double> sums(count);
        const std::uint64_t shots_left = (size - out.size()) / static_cast<std::size_t>(a.rows);
        rejection.draw(first, shots_left, drawn.devices.get(), found, sums, control);
        for (std::uint64_t k = 0; k < count; ++k) {
            values += sums[k];
            out.insert(out.end(), found[k].begin(), found[k].end());
        }
        chunks += static_cast<double>(count);
    }
    out.resize(size);
    return out;
}

} // namespace libperm
