// The permanent of a nonnegative matrix, estimated within a relative error.
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/randomness.hpp"
#include "lib/estimates/block_estimate.hpp"
#include "lib/estimates/blocks_left.hpp"
#include "lib/estimates/estimate_task.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace libperm {
namespace {

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

std::unique_ptr<EstimateTask> nonnegative_estimate(const InputPattern &input, const Values &values, int sign,
                                                   const Options &options, const EstimateRequest &request) {
    return std::make_unique<Nonnegative>(input, values, sign, options, request);
}

} // namespace libperm
