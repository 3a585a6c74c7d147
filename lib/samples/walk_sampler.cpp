#include "lib/samples/walk_sampler.hpp"

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

// Walks so many chunks more; what comes through goes behind what was found.
void walk_on(const Walks &walks, std::uint64_t chunks, std::int64_t most, SampleDevices *devices,
             RunControl &control, WalkRate &rate, std::vector<std::int32_t> &found) {
    std::vector<std::vector<std::int32_t>> columns(chunks);
    std::vector<double> sums(chunks);
    walks.draw(static_cast<std::uint64_t>(rate.chunks), static_cast<std::uint64_t>(most), devices, columns,
               sums, control);
    std::size_t size = found.size();
    for (const auto &one : columns) size += one.size();
    found.reserve(size); // from here on nothing throws
    for (std::uint64_t k = 0; k < chunks; ++k) {
        rate.values += sums[k];
        found.insert(found.end(), columns[k].begin(), columns[k].end());
    }
    rate.chunks += static_cast<double>(chunks);
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

WalkPlan::WalkPlan(const Pattern &a, const std::vector<Tracked> &entries, std::int64_t shots,
                   std::uint64_t seed, const Options &within, RunControl &control)
    : walks_(a, entries, seed, [&control] { control.poll(); }), shots_(shots) {
    constexpr std::uint64_t pilot = 8; // chunks
    const auto most = std::min<std::int64_t>(shots, pilot * Walks::chunk);
    const Charge charge(&control.memory(), 2 * std::int64_t{sizeof(std::int32_t)} * a.rows * most);
    RunControl uncounted(control, 0);
    walk_on(walks_, pilot, shots, nullptr, uncounted, rate_, found_);
    const std::int64_t left = shots - static_cast<std::int64_t>(found_.size()) / a.rows;
    if (left <= 0) return;
    seconds_ = walks_.drawn_where(rate_.chunks_for(left), within).seconds;
    rate_.refuse_if_longer(left, seconds_, within);
}

WalkSampler::WalkSampler(const WalkPlan &plan, const Options &options, RunControl &control)
    : plan_(plan),
      rows_(plan.walks().rows()),
      options_(options),
      control_(control),
      rate_(plan.rate()),
      charge_(&control.memory(), plan.bytes()),
      found_(plan.found()) {}

void WalkSampler::reach(std::int64_t first, std::int64_t count) {
    constexpr double most_at_once = 4096; // chunks
    found_.erase(found_.begin(), found_.begin() + (std::min(first - first_, there()) * rows_));
    first_ = first;
    while (there() < count) {
        predict();
        charge_.resize(bytes_of(std::max(count, there())));
        walk(static_cast<std::uint64_t>(std::min(rate_.chunks_for(count - there()), most_at_once)));
    }
}

// Shots are held as they are found, and all together.
std::int64_t WalkSampler::bytes_of(std::int64_t shots) const {
    return 2 * std::int64_t{sizeof(std::int32_t)} * rows_ * shots;
}

void WalkSampler::predict() {
    const double wanted = rate_.chunks_for(left());
    if (!drawn_.devices) {
        drawn_ = plan_.walks().drawn_where(wanted, options_);
        of_chunk_ = drawn_.seconds / wanted;
    }
    rate_.refuse_if_longer(left(), of_chunk_ * wanted, options_);
}

void WalkSampler::walk(std::uint64_t chunks) {
    RunControl seconds(control_, of_chunk_);
    walk_on(plan_.walks(), chunks, left(), drawn_.devices.get(), seconds, rate_, found_);
}

} // namespace libperm
