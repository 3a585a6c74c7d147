#include "lib/estimates/block_estimate.hpp"

#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/estimates/gamma_scheme.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t chunk = Sampler::at_once;
constexpr std::size_t pilot_chunks = 4, most_pilot_chunks = 2048;
constexpr std::uint64_t most_at_once = 4096; // chunks, of which each leaves its sums

bool ends_at(std::int64_t most, double samples) { return most > 0 && samples >= static_cast<double>(most); }

// How many chunks follow at once, `wanted` and no more than are allowed.
std::uint64_t chunks_at_once(double wanted, std::int64_t most, std::uint64_t done) {
    const double allowed = most > 0 ? std::ceil(static_cast<double>(most) / static_cast<double>(chunk)) -
                                          static_cast<double>(done)
                                    : infinity;
    return static_cast<std::uint64_t>(
        std::clamp(std::min(wanted, allowed), 1.0, static_cast<double>(most_at_once)));
}

} // namespace

BlockEstimate::BlockEstimate(const LogMatrix &a, std::uint64_t seed, RunControl &control) {
    Randomness streams(seed, 0);
    seed_ = streams.next();
    pilot_seed_ = streams.next();
    const Poll poll = [&control] { control.poll(); };
    potential_ = std::make_unique<Potential>(a, poll);
    if (auto other = std::make_unique<Potential>(transposed(a), poll);
        other->log_bound() < potential_->log_bound())
        potential_ = std::move(other);
    draw_pilot(control);
}

// Until what the samples come to is not a matter of a few.
void BlockEstimate::draw_pilot(RunControl &control) {
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
            control.poll();
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

bool BlockEstimate::improve(RunControl &control) {
    constexpr double worth_it = 0.02, share = 0.1, first = 0.5, most = 10, of_an_entry = 1e-8; // seconds
    constexpr int most_trials = 30000;
    const double pays = std::min(share * seconds(), most) - searched_;
    if (pays < worth_it) return false;
    const double now = std::min(pays, std::max(first, 2 * searched_));
    searched_ += now;
    potential_->improve_order(most_trials, now / of_an_entry, [&control] { control.poll(); });
    draw_pilot(control);
    return true;
}

double BlockEstimate::seconds() const { return chunks_ * Sampler::seconds_of_chunk(*potential_); }

const char *BlockEstimate::method() const { return rejects_ ? "rejection" : "nesting"; }

// Each weight is within (2 + |its logarithm|) 2^-52 of what the potential says, and the sum of all that count
// in a sample is n; the samples' own sums and products, and the bound's, are of fewer roundings.
double BlockEstimate::rounding() const {
    return potential_->n() * (16 + potential_->largest_log()) * 0x1p-50;
}

ShareFound BlockEstimate::run(std::int64_t most, RunControl &control) const {
    return rejects_ ? reject(most, control) : nest(most, control);
}

ShareFound BlockEstimate::nest(std::int64_t most, RunControl &control) const {
    const double ratio = (1 + epsilon_) / (1 - epsilon_);
    BetSums all;
    std::uint64_t done = 0;
    ShareFound found;
    double next = std::max(1.0, std::floor(0.9 * chunks_)), promised = chunks_;
    for (;;) {
        const std::uint64_t count = chunks_at_once(next, most, done);
        std::vector<BetSums> sums(count);
        parallel_for(count, [&](std::uint64_t k) {
            std::array<double, chunk> samples; // NOLINT(*-member-init): drawn
            sampler_->draw(seed_, done + k, samples);
            sums[k] = bets_->tally(samples);
            control.advance(1);
        });
        for (const BetSums &one : sums) all.add(one);
        done += count;
        found.interval = bets_->interval(all);
        if (found.interval.upper <= ratio * found.interval.lower || ends_at(most, all.count)) break;
        next =
            std::max(1.0, next > static_cast<double>(count) ? next - static_cast<double>(count)
                                                            : std::floor(0.05 * static_cast<double>(done)));
        if (const double needed = static_cast<double>(done) + next; needed > promised) {
            control.expect_more(needed - promised);
            promised = needed;
        }
    }
    found.mean = std::clamp(all.sum / all.count, found.interval.lower, found.interval.upper);
    found.samples = static_cast<std::int64_t>(all.count);
    found.accepted = static_cast<std::int64_t>(all.positive);
    return found;
}

ShareFound BlockEstimate::reject(std::int64_t most, RunControl &control) const {
    struct Trials {
        std::int64_t successes = 0;
        double time = 0;
    };
    const std::int64_t wanted = gamma_scheme_successes(epsilon_, delta_);
    // Of a chunk, or of its samples until so many are successes.
    const auto trials_of = [&](std::uint64_t number, std::int64_t until, std::int64_t &drawn) {
        std::array<double, chunk> samples; // NOLINT(*-member-init): drawn
        sampler_->draw(seed_, number, samples);
        Randomness random(~seed_, number);
        Trials out;
        drawn = 0;
        for (const double x : samples) {
            if (out.successes == until) break;
            ++drawn;
            out.time -= std::log1p(-random.uniform());
            out.successes += random.uniform() < x;
        }
        return out;
    };
    ShareFound found;
    double time = 0, promised = chunks_;
    std::uint64_t done = 0;
    while (found.accepted < wanted && !ends_at(most, static_cast<double>(found.samples))) {
        const double left = std::max(chunks_ - static_cast<double>(done), 0.05 * static_cast<double>(done));
        const std::uint64_t count = chunks_at_once(left, most, done);
        if (static_cast<double>(done + count) > promised) {
            control.expect_more(static_cast<double>(done + count) - promised);
            promised = static_cast<double>(done + count);
        }
        std::vector<Trials> trials(count);
        parallel_for(count, [&](std::uint64_t k) {
            std::int64_t drawn = 0;
            trials[k] = trials_of(done + k, std::numeric_limits<std::int64_t>::max(), drawn);
            control.advance(1);
        });
        for (std::uint64_t k = 0; k < count && found.accepted < wanted; ++k) {
            auto drawn = static_cast<std::int64_t>(chunk);
            if (found.accepted + trials[k].successes >= wanted)
                trials[k] = trials_of(done + k, wanted - found.accepted, drawn);
            found.accepted += trials[k].successes;
            found.samples += drawn;
            time += trials[k].time;
        }
        done += count;
    }
    if (found.accepted < wanted) { // the limit of samples came first
        found.mean = static_cast<double>(found.accepted) / static_cast<double>(found.samples);
        return found;
    }
    found.mean = std::min(1.0, static_cast<double>(wanted - 1) / time);
    found.interval = {static_cast<double>(wanted - 1) / time / (1 + epsilon_),
                      std::min(1.0, static_cast<double>(wanted - 1) / time / (1 - epsilon_))};
    return found;
}

} // namespace libperm
