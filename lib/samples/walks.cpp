#include "lib/samples/walks.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/samples/sampler_on_device.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace libperm {
namespace {

LogMatrix logarithms(const Pattern &a, const std::vector<Tracked> &entries) {
    LogMatrix out{a, {}};
    for (const Tracked &x : entries)
        out.log.push_back(std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2);
    return out;
}

} // namespace

Walks::Walks(const Pattern &a, const std::vector<Tracked> &entries, std::uint64_t seed, const Poll &poll)
    : rows_(a.rows), seed_(seed), by_columns_(logarithms(a, entries), poll) {
    Potential by_rows(transposed(logarithms(a, entries)), poll);
    is_transposed_ = by_rows.log_bound() < by_columns_.log_bound();
    if (is_transposed_) by_columns_ = std::move(by_rows);
    sampler_.emplace(by_columns_);
}

SamplesDrawn Walks::drawn_where(double chunks, const Options &options) const {
    const auto on_gpu = [&](const GpuProperties &gpu) {
        return chunks * SamplerOnDevice::seconds_of_chunk(by_columns_, gpu);
    };
    return choose_device(chunks * seconds_of_chunk(), on_gpu, options);
}

void Walks::draw(std::uint64_t first, std::uint64_t most, SampleDevices *devices,
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

double Walks::accept(std::uint64_t number, std::uint64_t most, std::span<const double> values,
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
                      chunks * static_cast<double>(Walks::chunk), values, shots, readable_seconds(seconds),
                      readable_seconds(options.refuse_seconds)));
}

} // namespace libperm
