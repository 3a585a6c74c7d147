#include "lib/estimates/matrix_estimate.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/estimates/additive.hpp"
#include "lib/estimates/block_estimate.hpp"
#include "lib/estimates/blocks_left.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// Without entries that are 0. `rounding`: by which share of themselves products of entries may be off.
LogMatrix log_matrix(const Block &block, double &rounding) {
    LogMatrix out;
    out.pattern.rows = out.pattern.cols = block.n();
    std::int32_t roundings = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        auto k = static_cast<std::size_t>(block.pattern.row_begin(i));
        for (const std::int32_t j : block.pattern.row(i)) {
            const Tracked &x = block.values[k++];
            if (!(x.value > 0)) continue;
            out.pattern.col.push_back(j);
            out.log.push_back(std::log(x.value) + static_cast<double>(x.exp2) * std::numbers::ln2);
            roundings = std::max(roundings, x.roundings);
        }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    }
    rounding = 2 * block.n() * gamma_bound(roundings);
    return out;
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

class Nonnegative {
    using Parts = BlocksLeft<Tracked>;

  public:
    Nonnegative(const InputPattern &input, const Values &values, const Options &options,
                const EstimateRequest &request, RunControl &control)
        : options_(options), request_(request), control_(control), parts_(input, values, options, control) {}

    MatrixEstimate run() {
        const auto begun = std::chrono::steady_clock::now();
        if (!parts_.is_zero) plan();
        out_.seconds_plan = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        out_.blocks = parts_.blocks;
        out_.blocks_exact = parts_.blocks_exact;
        if (parts_.is_zero) {
            out_.blocks_exact = out_.blocks;
            out_.exact = true;
            return out_;
        }
        interval_ = interval_of(parts_.known);
        out_.re = parts_.known.value;
        out_.exact = sampled_.empty();
        if (!out_.exact) sample();
        out_.lower = interval_.lower;
        out_.upper = interval_.upper;
        return out_;
    }

  private:
    struct Sampled {
        BlockEstimate estimate;
        double rounding; // of the entries, and what is computed with them
        Parts::Left exactly;
        double share = 1; // of the whole width
    };

    void plan() {
        std::vector<Parts::Left> left = std::exchange(parts_.left, {});
        Randomness seeds(request_.seed, 1);
        for (Parts::Left &one : left) {
            double rounding = 0;
            const LogMatrix a = log_matrix(one.leaf.block, rounding);
            BlockEstimate estimate(a, seeds.next(), control_);
            sampled_.push_back({std::move(estimate), rounding, std::move(one)});
        }
        for (Sampled &one : sampled_) one.share = 1 / static_cast<double>(sampled_.size());
        for (Sampled &one : sampled_) {
            aim(one);
            while (one.estimate.improve(control_)) aim(one);
        }
        const auto is_sooner_exact = [&](Sampled &one) {
            return parts_.computed_within(one.estimate.seconds(), one.exactly);
        };
        std::erase_if(sampled_, is_sooner_exact);
        share_out();
        const double seconds = seconds_of_all();
        if (seconds > options_.refuse_seconds) refuse(seconds);
    }

    double seconds_of_all() const {
        double seconds = 0;
        for (const Sampled &one : sampled_) seconds += one.estimate.seconds();
        return seconds / options_.threads;
    }

    void aim(Sampled &one) {
        double left = width_of(request_.epsilon) - log2_gap(interval_of(parts_.known)) * std::numbers::ln2;
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
    void share_out() {
        double all = 0;
        for (Sampled &one : sampled_) all += one.share = std::cbrt(std::min(one.estimate.seconds(), 1e30));
        for (Sampled &one : sampled_) one.share /= all;
        for (Sampled &one : sampled_) aim(one);
    }

    [[noreturn]] void refuse(double seconds) const {
        const std::string what =
            std::isinf(seconds)
                ? "none of the samples that were tried has come through, so that "
                  "nobody knows how many it will take"
                : formatted("it is predicted to take {}, {} is the limit", readable_seconds(seconds),
                            readable_seconds(options_.refuse_seconds));
        throw Error(
            PERM_REFUSED_TIME,
            formatted("an estimate within {} of the permanent, with probability {}: {}\n  allow more with "
                      "time_limit_seconds, or ask for a larger epsilon",
                      request_.epsilon, 1 - request_.delta, what));
    }

    void sample() {
        double chunks = 0;
        const Sampled *longest = &sampled_.front();
        for (const Sampled &one : sampled_) {
            chunks += one.estimate.chunks();
            if (one.estimate.seconds() > longest->estimate.seconds()) longest = &one;
        }
        out_.method = longest->estimate.method();
        log_decision(formatted(
            "{} of {} blocks are estimated ({}): about {:.3g} samples, {}", sampled_.size(), parts_.blocks,
            out_.method, chunks * static_cast<double>(Sampler::at_once), readable_seconds(seconds_of_all())));
        control_.begin(chunks, seconds_of_all());
        const std::int64_t most =
            request_.samples == 0 ? 0 : std::max<std::int64_t>(1, request_.samples / std::ssize(sampled_));
        for (const Sampled &one : sampled_) {
            const ShareFound found = one.estimate.run(most, control_);
            const double rounding = one.rounding + one.estimate.rounding(), log = one.estimate.log_bound();
            out_.samples += found.samples;
            out_.accepted += found.accepted;
            const auto part = [&](double share, double more) {
                return share > 0 ? exponential(log + std::log(share), more) : Scaled{};
            };
            interval_ = interval_ * Interval{part(found.interval.lower, 1 - rounding),
                                             part(found.interval.upper, 1 + rounding)};
            out_.re = product(out_.re, part(found.mean, 1));
        }
        settle();
    }

    // The number told is within epsilon of all of the interval: of its ends.
    void settle() {
        out_.delta = request_.delta;
        out_.epsilon = request_.epsilon;
        const Interval &interval = interval_;
        if (interval.lower.mantissa == 0) {
            out_.epsilon = 1;
            return;
        }
        const double ratio = quotient(interval.upper, interval.lower);
        if (ratio * (1 - out_.epsilon) > 1 + out_.epsilon)
            out_.epsilon = std::min(1.0, (ratio - 1) / (ratio + 1));
        const double low = ratio * (1 - out_.epsilon), high = std::max(low, 1 + out_.epsilon);
        out_.re =
            make_scaled(interval.lower.mantissa * std::clamp(quotient(out_.re, interval.lower), low, high),
                        interval.lower.exp2);
    }

    const Options &options_;
    const EstimateRequest &request_;
    RunControl &control_;
    Parts parts_;
    std::vector<Sampled> sampled_;
    Interval interval_;
    MatrixEstimate out_;
};

} // namespace

MatrixEstimate estimate_matrix(const InputPattern &input, const Values &values, const Options &options,
                               const EstimateRequest &request, RunControl &control) {
    const bool is_signed = some_negative(values);
    const bool of_nonnegative =
        request.method == EstimateMethod::nesting || request.method == EstimateMethod::rejection;
    if (is_signed && of_nonnegative)
        throw Error(PERM_BAD_MATRIX,
                    "some entries are negative or complex: this method is for nonnegative matrices; use "
                    "auto or glynn, whose error is additive");
    if (is_signed || request.method == EstimateMethod::glynn)
        return estimate_additively(input, values, options, request, control);
    return Nonnegative(input, values, options, request, control).run();
}

} // namespace libperm
