#include "lib/samples/walk_sampler.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/run/pieces.hpp"
#include "lib/samples/sampler.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace libperm {

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
