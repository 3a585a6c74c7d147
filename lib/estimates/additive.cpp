#include "lib/estimates/additive.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/bounds/magnitudes.hpp"
#include "lib/estimates/blocks_left.hpp"
#include "lib/estimates/glynn.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using Complex = std::complex<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A complex number and how far from the truth it can be, both times 2^exp2.
struct Disc {
    Complex middle;
    double radius = 0;
    std::int64_t exp2 = 0;
};

double shifted(const Scaled &x, std::int64_t exp2) {
    return std::ldexp(x.mantissa, static_cast<int>(std::clamp<std::int64_t>(x.exp2 - exp2, -5000, 5000)));
}

Disc normal(Disc x) {
    const double size = std::max(std::abs(x.middle), x.radius);
    if (size == 0 || !std::isfinite(size)) return x;
    const int exponent = std::ilogb(size) + 1;
    return {{std::ldexp(x.middle.real(), -exponent), std::ldexp(x.middle.imag(), -exponent)},
            std::ldexp(x.radius, -exponent),
            x.exp2 + exponent};
}

Disc operator*(const Disc &x, const Disc &y) {
    const double size = std::abs(x.middle), other = std::abs(y.middle);
    const double radius = size * y.radius + other * x.radius + x.radius * y.radius + 0x1p-50 * size * other;
    return normal({x.middle * y.middle, radius * (1 + 0x1p-48), x.exp2 + y.exp2});
}

Disc disc_of(const Ball &x) {
    const std::int64_t exp2 = x.value.mantissa == 0 ? x.error.exp2 : x.value.exp2;
    return normal({{shifted(x.value, exp2), 0}, shifted(x.error, exp2), exp2});
}

Disc disc_of(const WideBall &x) {
    const Tracked re = tracked_of(x.value.re), im = tracked_of(x.value.im);
    const std::int64_t exp2 = is_zero(x.value)                     ? x.error.exp2
                              : re.value == 0                      ? im.exp2
                              : im.value == 0 || re.exp2 > im.exp2 ? re.exp2
                                                                   : im.exp2;
    const Complex middle(shifted({re.value, re.exp2}, exp2), shifted({im.value, im.exp2}, exp2));
    return normal({middle, shifted(x.error, exp2) + 0x1p-51 * std::abs(middle), exp2});
}

std::pair<Tracked, Tracked> parts_of_entry(const Tracked &x) { return {x, Tracked()}; }
std::pair<Tracked, Tracked> parts_of_entry(const Gaussian &x) { return {tracked_of(x.re), tracked_of(x.im)}; }

const Block &magnitudes_in(const Block &block) { return block; }
Block magnitudes_in(const ExactBlock &block) { return magnitudes_of(block); }

// Entries that doubles have room for: the permanent is 2^exp2 times theirs. Those that even in this scale are
// of no account are 0, and what that takes from the permanent is exp(log_lost) at most.
struct Entries {
    std::vector<Complex> value;
    std::int64_t exp2 = 0;
    std::int32_t roundings = 0;
    double log_lost = -infinity;

    template <class Value> Entries(const BlockOf<Value> &block, const Poll &poll) {
        Block scaled = magnitudes_in(block);
        std::vector<std::int64_t> shift;
        for (const Tracked &x : scaled.values) shift.push_back(x.exp2);
        exp2 = -scale_for_bounds(scaled, poll);
        for (std::size_t k = 0; k < shift.size(); ++k) {
            const auto [re, im] = parts_of_entry(block.values[k]);
            const std::int64_t by = scaled.values[k].exp2 - shift[k];
            value.emplace_back(part(re, by), part(im, by));
            roundings = std::max({roundings, re.roundings, im.roundings});
        }
        if (loses_) log_lost = log_of_lost(scaled.pattern);
    }

  private:
    double part(const Tracked &x, std::int64_t by) {
        const bool is_lost = x.magnitude != 0 && x.exp2 + by < least_exponent;
        loses_ = loses_ || is_lost;
        return is_lost ? 0 : shifted({x.value, x.exp2}, -by);
    }

    // With rows' sums r_i, none of which is below 1/4, and at most s of such parts in a row: the product of
    // the r_i + s 2^-900, less that of the r_i.
    double log_of_lost(const Pattern &pattern) const {
        double log = 0, most = 0;
        std::size_t k = 0;
        for (std::int32_t i = 0; i < pattern.rows; ++i) {
            double sum = 0;
            const auto size = static_cast<std::size_t>(pattern.row(i).size());
            for (std::size_t j = 0; j < size; ++j) sum += std::abs(value[k++]);
            log += std::log(std::max(sum, 0.25));
            most = std::max(most, static_cast<double>(size));
        }
        return log + std::log(16 * pattern.rows * most) + least_exponent * std::numbers::ln2;
    }

    bool loses_ = false;
};

// How many samples, and what follows from them, of parts between -1 and 1 with probability 1 - delta.
//   Hoeffding: |mean - average| <= sqrt(2 log(2 / delta) / N);
//   Maurer and Pontil (Empirical Bernstein bounds and sample variance penalization, COLT 2009, Theorem 4), V
//   being the sample variance: |mean - average| <= sqrt(2 V log(4 / delta) / N) + 14 log(4 / delta) / (3 (N -
//   1)).
// Each is given half of delta, and the smaller one holds.
class Radius {
  public:
    Radius(double delta, int parts) : delta_(delta / (2 * parts)), parts_(parts) {}

    double samples(double epsilon) const {
        return std::ceil(2 * std::log(2 / delta_) * parts_ / (epsilon * epsilon));
    }
    double of(const GlynnSampler::Sums &sums, double count) const {
        const double re = of_part(sums.re, sums.re_squares, count);
        return (parts_ == 1 ? re : std::hypot(re, of_part(sums.im, sums.im_squares, count))) * (1 + 1e-9);
    }

  private:
    double of_part(double sum, double squares, double count) const {
        const double variance = std::max(0.0, (squares - sum * sum / count) / (count - 1)) + 1e-12;
        const double log = std::log(4 / delta_);
        return std::min(std::sqrt(2 * std::log(2 / delta_) / count),
                        std::sqrt(2 * variance * log / count) + 14 * log / (3 * (count - 1)));
    }

    double delta_;
    int parts_;
};

template <class Value> class Additive {
    using Parts = BlocksLeft<Value>;
    static constexpr int parts = std::is_same_v<Value, Tracked> ? 1 : 2; // real, imaginary
    static constexpr std::uint64_t at_once = 1024;                       // chunks

  public:
    Additive(const InputPattern &input, const Values &values, const Options &options,
             const EstimateRequest &request, RunControl &control)
        : options_(options), request_(request), control_(control), parts_(input, values, options, control) {}

    MatrixEstimate run() {
        MatrixEstimate out;
        out.additive = true;
        if (!parts_.is_zero) sample(out);
        out.blocks = parts_.blocks;
        out.blocks_exact = parts_.is_zero ? parts_.blocks : parts_.blocks_exact;
        out.exact = parts_.is_zero || parts_.left.empty();
        if (parts_.is_zero) return out;
        const Disc x = product_;
        if (!std::isfinite(x.middle.real()) || !std::isfinite(x.middle.imag()) || !std::isfinite(x.radius))
            throw Error(PERM_UNSUPPORTED,
                        "the entries are too many orders of magnitude apart for an estimate with signs; "
                        "perm_bounds tells what the permanent is at most");
        out.re = make_scaled(x.middle.real(), x.exp2);
        out.im = make_scaled(x.middle.imag(), x.exp2);
        out.error = make_scaled(x.radius, x.exp2);
        const double lower = x.middle.real() - x.radius, upper = x.middle.real() + x.radius;
        out.lower = make_scaled(x.radius == 0 ? lower : std::nextafter(lower, -infinity), x.exp2);
        out.upper = make_scaled(x.radius == 0 ? upper : std::nextafter(upper, infinity), x.exp2);
        if (!out.exact) {
            out.epsilon = infinity;
            out.delta = request_.delta;
            out.method = "glynn";
        }
        return out;
    }

  private:
    void sample(MatrixEstimate &out) {
        const auto blocks = static_cast<double>(parts_.left.size());
        const Radius radius(request_.delta / std::max(blocks, 1.0), parts);
        double samples = radius.samples(request_.epsilon);
        if (request_.samples > 0) samples = std::min(samples, static_cast<double>(request_.samples) / blocks);
        const auto chunks = static_cast<std::uint64_t>(
            std::max(1.0, std::ceil(std::min(samples, 1e18) / static_cast<double>(GlynnSampler::at_once))));
        std::vector<GlynnSampler> samplers;
        std::vector<double> log_scale, rounding;
        std::vector<std::int64_t> exp2_scale;
        double seconds = 0;
        for (const auto &left : parts_.left) {
            const Entries entries(left.leaf.block, [this] { control_.poll(); });
            samplers.emplace_back(left.leaf.block.pattern, entries.value, [this] { control_.poll(); });
            log_scale.push_back(samplers.back().log_bound());
            exp2_scale.push_back(entries.exp2);
            rounding.push_back(samplers.back().rounding() * (1 + entries.roundings) +
                               std::exp(entries.log_lost - samplers.back().log_bound()) +
                               left.leaf.block.n() * 0x1p-45); // what the logarithm of the bound is off by
            seconds += samplers.back().seconds_of_chunk() * static_cast<double>(chunks) / options_.threads;
        }
        if (seconds > options_.refuse_seconds)
            throw Error(
                PERM_REFUSED_TIME,
                formatted(
                    "an estimate within {} of its scale is predicted to take {}, {} is the limit\n  allow "
                    "more with time_limit_seconds, or ask for a larger epsilon",
                    request_.epsilon, readable_seconds(seconds), readable_seconds(options_.refuse_seconds)));
        if (!samplers.empty()) control_.begin(static_cast<double>(chunks) * blocks, seconds);
        product_ = disc_of(parts_.known);
        Randomness seeds(request_.seed, 2);
        const double count = static_cast<double>(chunks) * static_cast<double>(GlynnSampler::at_once);
        for (std::size_t k = 0; k < samplers.size(); ++k) {
            const GlynnSampler::Sums sums = drawn(samplers[k], seeds.next(), chunks);
            const double exp2 = std::floor(log_scale[k] / std::numbers::ln2);
            const double scale = std::exp(log_scale[k] - exp2 * std::numbers::ln2);
            product_ = product_ * Disc{Complex(sums.re, sums.im) / count * scale,
                                       (radius.of(sums, count) + rounding[k]) * scale,
                                       static_cast<std::int64_t>(exp2) + exp2_scale[k]};
            out.samples += static_cast<std::int64_t>(count);
        }
        out.accepted = out.samples;
    }

    GlynnSampler::Sums drawn(const GlynnSampler &sampler, std::uint64_t seed, std::uint64_t chunks) {
        GlynnSampler::Sums all;
        for (std::uint64_t done = 0; done < chunks; done += at_once) {
            std::vector<GlynnSampler::Sums> sums(std::min(at_once, chunks - done));
            parallel_for(sums.size(), [&](std::uint64_t k) {
                sums[k] = sampler.draw(seed, done + k);
                control_.advance(1);
            });
            for (const GlynnSampler::Sums &one : sums) {
                all.re += one.re;
                all.im += one.im;
                all.re_squares += one.re_squares;
                all.im_squares += one.im_squares;
            }
        }
        return all;
    }

    const Options &options_;
    const EstimateRequest &request_;
    RunControl &control_;
    Parts parts_;
    Disc product_;
};

} // namespace

MatrixEstimate estimate_additively(const InputPattern &input, const Values &values, const Options &options,
                                   const EstimateRequest &request, RunControl &control) {
    if (some_complex(values)) return Additive<Gaussian>(input, values, options, request, control).run();
    return Additive<Tracked>(input, values, options, request, control).run();
}

} // namespace libperm
