#include "lib/estimates/nonnegative.hpp"

#include "jit/compile/digest.hpp"
#include "jit/lanes/matching_walk.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/randomness.hpp"
#include "lib/estimates/estimate_task.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr std::size_t chunk = Sampler::chunk_samples;
constexpr std::size_t pilot_chunks = 4, most_pilot_chunks = 2048;

// Of the gamma scheme's trials.
enum Trials { trials_drawn, trials_accepted, trials_time, trials_sums };

// By which share of themselves products of entries may be off.
double rounding_of(const Block &block) {
    std::int32_t roundings = 0;
    for (const Tracked &x : block.values)
        if (x.value > 0) roundings = std::max(roundings, x.roundings);
    return 2 * block.n() * gamma_bound(roundings);
}

// exp(log), times `more`.
Scaled exponential(double log, double more = 1) {
    const double exp2 = std::floor(log / std::numbers::ln2);
    return make_scaled(std::exp(log - exp2 * std::numbers::ln2) * more, static_cast<std::int64_t>(exp2));
}

double quotient(const Scaled &x, const Scaled &y) {
    return std::ldexp(x.mantissa / y.mantissa,
                      static_cast<int>(std::clamp<std::int64_t>(x.exp2 - y.exp2, -5000, 5000)));
}

Scaled product(const Scaled &x, const Scaled &y) {
    return make_scaled(x.mantissa * y.mantissa, x.exp2 + y.exp2);
}

// log((1 + epsilon) / (1 - epsilon)), and the epsilon of which it is that.
double width_of(double epsilon) { return std::log1p(epsilon) - std::log1p(-epsilon); }
double epsilon_of(double width) { return std::tanh(width / 2); }

class Nonnegative final : public EstimateTask {
    using Parts = BlocksLeft<Tracked>;

  public:
    Nonnegative(const InputPattern &input, const Values &values, int sign, const Options &options,
                const EstimateRequest &request)
        : EstimateTask(options, request), sign_(sign) {
        Parts parts(input, values, options);
        if (!parts.is_zero) plan_blocks(parts);
        known_.blocks = parts.blocks;
        known_.blocks_exact = parts.is_zero ? parts.blocks : parts.blocks_exact;
        known_.exact = parts.is_zero || sampled_.empty();
        if (!parts.is_zero) {
            const Interval interval = interval_of(parts.known);
            known_.re = parts.known.value;
            known_.lower = interval.lower;
            known_.upper = interval.upper;
        }
    }

  private:
    struct Sampled {
        BlockEstimate estimate;
        double rounding;     // of the entries, and what is computed with them
        Parts::Left exactly; // until that is decided
        double share = 1;    // of the whole width
    };

    void plan_blocks(Parts &parts) {
        std::vector<Parts::Left> left = std::exchange(parts.left, {});
        Randomness seeds(request_.seed, 1);
        Charge held(&call().memory()); // of both orientations, and the pilots
        for (Parts::Left &one : left) {
            const Pattern &pattern = one.leaf.block.pattern;
            held.grow(2 * Potential::bytes_for(pattern.nnz(), pattern.rows));
            const auto log = [&](std::size_t k) { return log_of(one.leaf.block.values[k]); };
            BlockEstimate estimate(log_matrix(pattern, log), seeds.next());
            held.grow(estimate.bytes());
            const double rounding = libperm::rounding_of(one.leaf.block);
            sampled_.push_back({std::move(estimate), rounding, std::move(one)});
        }
        for (Sampled &one : sampled_) one.share = 1 / static_cast<double>(sampled_.size());
        for (Sampled &one : sampled_) {
            aim(one, parts);
            while (one.estimate.improve(most_samples())) aim(one, parts);
        }
        const auto is_sooner_exact = [&](Sampled &one) {
            const double all = one.estimate.seconds(); // infinite where that is not known
            const double drawn = std::isinf(all) ? all : one.estimate.pieces(most_samples()).seconds();
            return parts.computed_within(drawn, one.exactly);
        };
        std::erase_if(sampled_, is_sooner_exact);
        share_out(parts);
        settle_on_pieces();
    }

    void aim(Sampled &one, const Parts &parts) {
        double left = width_of(request_.epsilon) - log2_gap(interval_of(parts.known)) * std::numbers::ln2;
        for (const Sampled &other : sampled_) left -= 2.1 * (other.rounding + other.estimate.rounding());
        if (!(left > 0))
            throw Error(PERM_BAD_OPTION,
                        formatted("epsilon {} is less than what roundings leave of the matrix; ask for "
                                  "a larger one",
                                  request_.epsilon));
        one.estimate.aim(epsilon_of(left * one.share), request_.delta / static_cast<double>(sampled_.size()),
                         request_.method);
    }

    // With samples in proportion to 1 / width^2, the least time in all is with widths like its cube root.
    void share_out(const Parts &parts) {
        double all = 0;
        for (Sampled &one : sampled_) all += one.share = std::cbrt(std::min(one.estimate.seconds(), 1e30));
        for (Sampled &one : sampled_) one.share /= all;
        for (Sampled &one : sampled_) aim(one, parts);
    }

    // Of a block; 0: as many as it takes.
    std::int64_t most_samples() const {
        return request_.samples == 0 ? 0 : std::max<std::int64_t>(1, request_.samples / std::ssize(sampled_));
    }

    void settle_on_pieces() {
        double longest = 0;
        for (Sampled &one : sampled_) {
            one.exactly = {};
            const double seconds = one.estimate.seconds();
            if (std::isinf(seconds))
                throw Error(PERM_REFUSED_TIME,
                            promise() + ": none of the samples that were tried has come through, so that "
                                        "nobody knows how many it will take\n  ask for a larger epsilon");
            if (seconds > longest) known_.method = one.estimate.method();
            longest = std::max(longest, seconds);
            pieces_.push_back(one.estimate.pieces(most_samples()));
            bytes_ += one.estimate.bytes();
        }
    }

    const char *method() const override { return known_.method; }
    bool may_be_on_gpu() const override { return !sampled_.empty(); }
    double seconds_on(const GpuProperties &gpu) const override {
        double seconds = 0;
        for (const Sampled &one : sampled_) seconds += one.estimate.seconds_on(gpu);
        return seconds;
    }

    std::string digest_of_block(std::size_t block) const override {
        return sampled_[block].estimate.digest();
    }

    std::string promise() const override {
        return formatted("an estimate within {} of the permanent, with probability {}", request_.epsilon,
                         1 - request_.delta);
    }

    MatrixEstimate estimate(PieceStore *store, SampleDevices *devices, const Told &told) const override {
        MatrixEstimate out = known_;
        for (std::size_t k = 0; k < sampled_.size(); ++k) {
            const BlockEstimate &block = sampled_[k].estimate;
            const CurrentCall part = for_block(k, store);
            const MatrixEstimate before = out;
            const Interval rest = bounds_from(k + 1);
            const auto so_far = [&](const ShareFound &found) {
                MatrixEstimate now = times(before, sampled_[k], found);
                log_decision(formatted("block {} of {}: {} samples, {} accepted, {}", k + 1, sampled_.size(),
                                       found.samples, found.accepted, width_text(found.interval)));
                if (!told) return;
                const Interval all = Interval{now.lower, now.upper} * rest;
                now.lower = all.lower;
                now.upper = all.upper;
                settle(now);
                told(with_sign(now));
            };
            out = times(before, sampled_[k], block.run(pieces_[k], devices, so_far));
        }
        if (!sampled_.empty()) settle(out);
        return with_sign(out);
    }

    static std::string width_text(const MeanInterval &interval) {
        if (!(interval.lower > 0)) return "nothing certain yet";
        return formatted("within {:.2g} %", 100 * (interval.upper / interval.lower - 1));
    }

    // Nothing is known yet of the blocks from that one on but their bounds.
    Interval bounds_from(std::size_t first) const {
        Interval all{make_scaled(1, 0), make_scaled(1, 0)};
        for (std::size_t k = first; k < sampled_.size(); ++k)
            all = all * Interval{{}, part(sampled_[k], 1, 1)};
        return all;
    }

    static double rounding_of(const Sampled &one) { return one.rounding + one.estimate.rounding(); }

    // A share of the block's bound.
    static Scaled part(const Sampled &one, double share, double more) {
        return share > 0 ? exponential(one.estimate.log_bound() + std::log(share), more) : Scaled{};
    }

    static MatrixEstimate times(MatrixEstimate out, const Sampled &one, const ShareFound &found) {
        out.samples += found.samples;
        out.accepted += found.accepted;
        const double rounding = rounding_of(one);
        const Interval interval =
            Interval{out.lower, out.upper} * Interval{part(one, found.interval.lower, 1 - rounding),
                                                      part(one, found.interval.upper, 1 + rounding)};
        out.lower = interval.lower;
        out.upper = interval.upper;
        out.re = product(out.re, part(one, found.mean, 1));
        return out;
    }

    // The number told is within epsilon of all of the interval: of its ends.
    void settle(MatrixEstimate &out) const {
        out.delta = request_.delta;
        out.epsilon = request_.epsilon;
        if (out.lower.mantissa == 0) {
            out.epsilon = 1;
            return;
        }
        const double ratio = quotient(out.upper, out.lower);
        if (ratio * (1 - out.epsilon) > 1 + out.epsilon)
            out.epsilon = std::min(1.0, (ratio - 1) / (ratio + 1));
        const double low = ratio * (1 - out.epsilon), high = std::max(low, 1 + out.epsilon);
        out.re = make_scaled(out.lower.mantissa * std::clamp(quotient(out.re, out.lower), low, high),
                             out.lower.exp2);
    }

    MatrixEstimate with_sign(MatrixEstimate out) const {
        if (sign_ > 0) return out;
        std::swap(out.lower, out.upper);
        for (Scaled *x : {&out.re, &out.lower, &out.upper}) x->mantissa = 0 - x->mantissa;
        return out;
    }

    const int sign_;
    std::vector<Sampled> sampled_;
};

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
            sums[k] = bets_->tally(samples);
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
            sums[k] = MeanBets::told_sums(chunk, std::span(told).subspan(k * doubles, doubles));
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
        found.interval = bets_->interval(all);
        found.mean = std::clamp(all[bet_sum] / all[bet_count], found.interval.lower, found.interval.upper);
        found.samples = static_cast<std::int64_t>(all[bet_count]);
        found.accepted = static_cast<std::int64_t>(all[bet_positive]);
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

std::unique_ptr<EstimateTask> nonnegative_estimate(const InputPattern &input, const Values &values, int sign,
                                                   const Options &options, const EstimateRequest &request) {
    return std::make_unique<Nonnegative>(input, values, sign, options, request);
}

} // namespace libperm
