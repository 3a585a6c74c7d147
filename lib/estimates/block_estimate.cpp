#include "lib/estimates/block_estimate.hpp"

#include "jit/compile/digest.hpp"
#include "jit/lanes/bet_tally.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/randomness.hpp"
#include "lib/estimates/gamma_scheme.hpp"
#include "lib/number/infinity.hpp"
#include "lib/samples/sample_devices.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace libperm {
namespace {

constexpr std::size_t chunk = Sampler::chunk_samples;
constexpr std::size_t pilot_chunks = 4, most_pilot_chunks = 2048;

SampleSums flat(const BetSums &x) {
    SampleSums out{x.count, x.positive, x.sum};
    out.insert(out.end(), x.logs.begin(), x.logs.end());
    return out;
}

BetSums bet_sums(const SampleSums &x) { return {x.at(0), x.at(1), x.at(2), {x.begin() + 3, x.end()}}; }

// Of the gamma scheme's trials.
enum Trials { trials_drawn, trials_accepted, trials_time, trials_sums };

} // namespace

BlockEstimate::BlockEstimate(const LogMatrix &a, std::uint64_t seed) {
    Randomness streams(seed, 0);
    seed_ = streams.next();
    pilot_seed_ = streams.next();
    potential_ = std::make_unique<Potential>(a);
    if (auto other = std::make_unique<Potential>(transposed(a)); other->log_bound() < potential_->log_bound())
        potential_ = std::move(other);
    draw_pilot();
}

// Until what the samples come to is not a matter of a few.
void BlockEstimate::draw_pilot() {
    constexpr double enough = 30, most_pilot_seconds = 4; // samples of one size; on one thread, predicted
    sampler_ = std::make_unique<Sampler>(*potential_);
    pilot_.clear();
    const double affordable = most_pilot_seconds / Sampler::seconds_of_chunk(*potential_);
    for (std::size_t chunks = pilot_chunks;
         chunks == pilot_chunks || (chunks <= most_pilot_chunks && static_cast<double>(chunks) <= affordable);
         chunks *= 2) {
        const std::size_t first = pilot_.size() / chunk;
        pilot_.resize(chunks * chunk);
        parallel_for(chunks - first, [&](std::uint64_t k) {
            poll();
            sampler_->draw(pilot_seed_, first + k, std::span(pilot_).subspan((first + k) * chunk, chunk));
        });
        double sum = 0, squares = 0;
        for (const double x : pilot_) {
            sum += x;
            squares += x * x;
        }
        is_hopeless_ = !(sum > 0);
        if (squares > 0 && sum * sum / squares >= enough) break;
    }
}

void BlockEstimate::aim(double epsilon, double delta, EstimateMethod method) {
    epsilon_ = epsilon;
    delta_ = delta;
    chunks_ = infinity;
    rejects_ = method == EstimateMethod::rejection;
    bets_.reset();
    if (is_hopeless_) return;
    double mean = 0;
    for (const double x : pilot_) mean += x / static_cast<double>(pilot_.size());
    const double rejecting = method == EstimateMethod::nesting
                                 ? infinity
                                 : static_cast<double>(gamma_scheme_successes(epsilon, delta)) / mean;
    bets_.emplace(pilot_, epsilon, delta);
    if (method == EstimateMethod::automatic) rejects_ = rejecting < bets_->expected_samples();
    chunks_ = std::ceil((rejects_ ? rejecting : bets_->expected_samples()) / static_cast<double>(chunk));
}

bool BlockEstimate::improve(std::int64_t samples) {
    constexpr double worth_it = 0.02, share = 0.1, first = 0.5, most = 2, of_an_entry = 1e-8; // seconds
    constexpr int most_trials = 30000;
    const double pays = std::min(share * pieces(samples).seconds(), most) - searched_;
    if (pays < worth_it) return false;
    const double now = std::min(pays, std::max(first, 2 * searched_));
    searched_ += now;
    const Charge tried(&call().memory(), potential_->bytes_to_improve());
    potential_->improve_order(most_trials, now / of_an_entry);
    draw_pilot();
    return true;
}

double BlockEstimate::seconds() const { return chunks_ * Sampler::seconds_of_chunk(*potential_); }

double BlockEstimate::seconds_on(const GpuProperties &gpu) const {
    return chunks_ * SamplerOnDevice::seconds_of_chunk(*potential_, gpu);
}

std::int64_t BlockEstimate::bytes() const {
    return Potential::bytes_for(potential_->entries(), potential_->n()) +
           static_cast<std::int64_t>(pilot_.size() * sizeof(double));
}

const char *BlockEstimate::method() const { return rejects_ ? "rejection" : "nesting"; }

// Each weight is within (2 + |its logarithm|) 2^-52 of what the potential says, and the sum of all that count
// in a sample is n; the samples' own sums and products, and the bound's, are of fewer roundings.
double BlockEstimate::rounding() const {
    return potential_->n() * (16 + potential_->largest_log()) * 0x1p-50;
}

std::string BlockEstimate::digest() const {
    std::string bytes = written(std::vector<std::uint64_t>{seed_, static_cast<std::uint64_t>(rejects_)}) +
                        written(std::vector<double>{epsilon_, delta_, chunks_, potential_->log_bound()}) +
                        written(pilot_);
    for (const WalkStep &step : potential_->steps())
        bytes += written(std::vector<std::int32_t>(step.rows.begin(), step.rows.end())) +
                 written(std::vector<double>(step.weights.begin(), step.weights.end()));
    return digest_of_bytes(bytes);
}

SamplePieces BlockEstimate::pieces(std::int64_t most) const {
    const auto samples = static_cast<std::uint64_t>(most);
    const std::uint64_t limit = most > 0 ? samples / chunk + (samples % chunk != 0) : SamplePieces::no_limit;
    const auto sum = [this](std::uint64_t first, std::span<SampleSums> sums, SampleDevices *devices) {
        sum_chunks(first, sums, devices);
    };
    return {sum, chunks_, limit, Sampler::seconds_of_chunk(*potential_)};
}

void BlockEstimate::sum_chunks(std::uint64_t first, std::span<SampleSums> sums,
                               SampleDevices *devices) const {
    if (devices && sum_on(*devices, first, sums)) return;
    parallel_for(sums.size(), [&](std::uint64_t k) {
        if (rejects_) {
            sums[k] = trials(first + k, infinity);
        } else {
            std::array<double, chunk> samples; // NOLINT(*-member-init): drawn
            sampler_->draw(seed_, first + k, samples);
            sums[k] = flat(bets_->tally(samples));
        }
        call().advance(1);
    });
}

bool BlockEstimate::sum_on(SampleDevices &devices, std::uint64_t first, std::span<SampleSums> sums) const {
    if (rejects_) {
        std::vector<double> samples(sums.size() * chunk);
        if (!devices.draw(*potential_, seed_, first, samples)) return false;
        parallel_for(sums.size(), [&](std::uint64_t k) {
            sums[k] = trials(first + k, std::span(samples).subspan(k * chunk, chunk), infinity);
        });
    } else {
        const std::vector<double> bets = bets_->sizes();
        const std::size_t doubles = tally_doubles(bets.size());
        std::vector<double> told(sums.size() * doubles);
        if (!devices.tally(*potential_, seed_, first, bets, told)) return false;
        parallel_for(sums.size(), [&](std::uint64_t k) {
            sums[k] = flat(MeanBets::told_sums(chunk, std::span(told).subspan(k * doubles, doubles)));
        });
    }
    return true;
}

ShareFound BlockEstimate::run(const SamplePieces &pieces, SampleDevices *devices, const Told &told) const {
    return rejects_ ? reject(pieces, devices, told) : nest(pieces, devices, told);
}

ShareFound BlockEstimate::nest(const SamplePieces &pieces, SampleDevices *devices, const Told &told) const {
    const double ratio = (1 + epsilon_) / (1 - epsilon_);
    SampleSums all;
    ShareFound found;
    const auto take = [&](std::span<const SampleSums> next) {
        for (const SampleSums &one : next) add(all, one);
        const BetSums sums = bet_sums(all);
        found.interval = bets_->interval(sums);
        found.mean = std::clamp(sums.sum / sums.count, found.interval.lower, found.interval.upper);
        found.samples = static_cast<std::int64_t>(sums.count);
        found.accepted = static_cast<std::int64_t>(sums.positive);
        if (told) told(found);
        return found.interval.upper <= ratio * found.interval.lower;
    };
    pieces.add_up(take, devices);
    return found;
}

SampleSums BlockEstimate::trials(std::uint64_t number, double until) const {
    std::array<double, chunk> samples; // NOLINT(*-member-init): drawn
    sampler_->draw(seed_, number, samples);
    return trials(number, samples, until);
}

SampleSums BlockEstimate::trials(std::uint64_t number, std::span<const double> samples, double until) const {
    Randomness random(~seed_, number);
    SampleSums out(trials_sums, 0.0);
    for (const double x : samples) {
        if (out[trials_accepted] == until) break;
        ++out[trials_drawn];
        out[trials_time] -= std::log1p(-random.uniform());
        out[trials_accepted] += random.uniform() < x ? 1 : 0;
    }
    return out;
}

// The piece in which the last success is wanted is drawn once more, up to that one.
ShareFound BlockEstimate::reject(const SamplePieces &pieces, SampleDevices *devices, const Told &told) const {
    const auto wanted = static_cast<double>(gamma_scheme_successes(epsilon_, delta_));
    SampleSums all(trials_sums, 0.0);
    std::uint64_t piece = 0;
    const auto draw_to_the_last = [&] {
        std::vector<SampleSums> chunks(pieces.chunks_before(piece + 1) - pieces.chunks_before(piece));
        uncounted([&] { sum_chunks(pieces.chunks_before(piece), chunks, devices); });
        for (std::uint64_t k = 0; all[trials_accepted] < wanted; ++k) {
            const double left = wanted - all[trials_accepted];
            add(all, chunks.at(k)[trials_accepted] < left ? chunks[k]
                                                          : trials(pieces.chunks_before(piece) + k, left));
        }
    };
    ShareFound found;
    const auto take = [&](std::span<const SampleSums> next) {
        for (const SampleSums &one : next) {
            if (all[trials_accepted] + one.at(trials_accepted) >= wanted) {
                draw_to_the_last();
                break;
            }
            add(all, one);
            ++piece;
        }
        found.samples = static_cast<std::int64_t>(all[trials_drawn]);
        found.accepted = static_cast<std::int64_t>(all[trials_accepted]);
        found.mean = all[trials_accepted] / all[trials_drawn];
        if (told) told(found);
        return all[trials_accepted] >= wanted;
    };
    pieces.add_up(take, devices);
    if (all[trials_accepted] < wanted) return found; // the limit of samples came first
    const double mean = (wanted - 1) / all[trials_time];
    found.mean = std::min(1.0, mean);
    found.interval = {mean / (1 + epsilon_), std::min(1.0, mean / (1 - epsilon_))};
    return found;
}

} // namespace libperm
