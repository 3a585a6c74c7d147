#include "lib/estimates/additive.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/randomness.hpp"
#include "lib/bounds/doubly_stochastic.hpp"
#include "lib/bounds/magnitudes.hpp"
#include "lib/bounds/upper_bounds.hpp"
#include "lib/estimates/estimate_task.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace libperm {
namespace {

using Complex = std::complex<double>;

// Divides rows and columns by factors so that all have about one norm, and returns the logarithm of their
// product. Any factors will do: these are the same whatever the last bits.
double scale_norms(const Pattern &a, std::vector<Complex> &entries, std::vector<double> &off) {
    Weights squares{a, {}};
    for (const Complex &x : entries) squares.value.push_back(std::norm(x));
    Balanced scaling = balanced(squares);
    double log = 0;
    for (std::vector<double> *factors : {&scaling.row, &scaling.column})
        for (double &x : *factors) {
            if (!(x > 0x1p-800 && x < 0x1p800)) x = 1; // all of it is below what counts
            x = std::exp2(std::round(std::log2(x) * 16) / 32);
            log -= std::log(x);
        }
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        entries[k] *= scaling.row[i] * scaling.column[j];
        off[k] *= scaling.row[i] * scaling.column[j];
    });
    return log;
}

// Of entries that have all their digits.
std::ptrdiff_t count_of_normal(const std::vector<Complex> &entries) {
    return std::count_if(entries.begin(), entries.end(), [](const Complex &x) {
        return std::max(std::fabs(x.real()), std::fabs(x.imag())) >= 0x1p-1000;
    });
}

// At least the largest singular value.
double singular_value_above(const Pattern &a, const std::vector<Complex> &entries) {
    constexpr std::int32_t most_rows = 400;
    constexpr double most_work = 1e9; // multiply-adds
    std::vector<double> row(at(a.rows), 0.0), column(at(a.rows), 0.0);
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        row[i] += std::abs(entries[k]);
        column[j] += std::abs(entries[k]);
    });
    const double simple = std::sqrt(*std::max_element(row.begin(), row.end()) *
                                    *std::max_element(column.begin(), column.end())) *
                          (1 + 1e-9);
    if (a.rows > most_rows) return simple;
    return std::min(simple, spectral_norm_above(a, entries, most_work));
}

// The permanent of a matrix with negative or complex entries, estimated with an additive error.

using Complex = std::complex<double>;

// A complex number and how far from the truth it can be, both times 2^exp2: what blocks with signs come to.
struct Disc {
    Complex middle;
    double radius = 0;
    std::int64_t exp2 = 0;
};

Disc normal(Disc x) {
    const double size = std::max(std::abs(x.middle), x.radius);
    if (size == 0 || !std::isfinite(size)) return x;
    const int exponent = std::ilogb(size) + 1;
    return {{std::ldexp(x.middle.real(), -exponent), std::ldexp(x.middle.imag(), -exponent)},
            std::ldexp(x.radius, -exponent),
            x.exp2 + exponent};
}

// x over 2^exp2, as a double.
double as_double(const Scaled &x, std::int64_t exp2) {
    return std::ldexp(x.mantissa, static_cast<int>(std::clamp<std::int64_t>(x.exp2 - exp2, -5000, 5000)));
}

Disc operator*(const Disc &x, const Disc &y) {
    const double size = std::abs(x.middle), other = std::abs(y.middle);
    const double radius = size * y.radius + other * x.radius + x.radius * y.radius + 0x1p-50 * size * other;
    return normal({x.middle * y.middle, radius * (1 + 0x1p-48), x.exp2 + y.exp2});
}

Disc disc_of(const Ball &x) {
    const std::int64_t exp2 = x.value.mantissa == 0 ? x.error.exp2 : x.value.exp2;
    return normal({{as_double(x.value, exp2), 0}, as_double(x.error, exp2), exp2});
}

Disc disc_of(const WideBall &x) {
    const Tracked re = tracked_of(x.value.re), im = tracked_of(x.value.im);
    const std::int64_t exp2 = is_zero(x.value)                     ? x.error.exp2
                              : re.value == 0                      ? im.exp2
                              : im.value == 0 || re.exp2 > im.exp2 ? re.exp2
                                                                   : im.exp2;
    const Complex middle(as_double({re.value, re.exp2}, exp2), as_double({im.value, im.exp2}, exp2));
    return normal({middle, as_double(x.error, exp2) + 0x1p-51 * std::abs(middle), exp2});
}

std::pair<Tracked, Tracked> parts_of_entry(const Tracked &x) { return {x, Tracked()}; }
std::pair<Tracked, Tracked> parts_of_entry(const Gaussian &x) { return {tracked_of(x.re), tracked_of(x.im)}; }

const Block &magnitudes_in(const Block &block) { return block; }
Block magnitudes_in(const ExactBlock &block) { return magnitudes_of(block); }

// Entries that doubles have room for: the permanent is 2^exp2 times theirs. Those that even in this scale are
// of no account are 0, and what that takes from the permanent is exp(log_lost) at most.
struct Entries {
    std::vector<Complex> value;
    std::vector<double> off; // by which each may be: where terms cancelled in it, more than its size says
    std::int64_t exp2 = 0;
    double log_lost = -infinity;

    template <class Value> Entries(const BlockOf<Value> &block) {
        Block scaled = magnitudes_in(block);
        std::vector<std::int64_t> shift;
        for (const Tracked &x : scaled.values) shift.push_back(x.exp2);
        exp2 = -scale_for_bounds(scaled);
        for (std::size_t k = 0; k < shift.size(); ++k) {
            const auto [re, im] = parts_of_entry(block.values[k]);
            const std::int64_t by = scaled.values[k].exp2 - shift[k];
            value.emplace_back(part(re, by), part(im, by));
            off.push_back(off_of(re, by) + off_of(im, by));
        }
        if (loses_) log_lost = log_of_lost(scaled.pattern);
    }

  private:
    double part(const Tracked &x, std::int64_t by) {
        const bool is_lost = x.magnitude != 0 && x.exp2 + by < least_exponent;
        loses_ = loses_ || is_lost;
        return is_lost ? 0 : as_double({x.value, x.exp2}, -by);
    }

    static double off_of(const Tracked &x, std::int64_t by) {
        return x.roundings == 0 ? 0 : gamma_bound(x.roundings) * as_double({x.magnitude, x.exp2}, -by);
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
    double of(const SampleSums &sums, double count) const {
        using enum GlynnSampler::Sums;
        const double of_re = of_part(sums[re], sums[re_squares], count);
        return (parts_ == 1 ? of_re : std::hypot(of_re, of_part(sums[im], sums[im_squares], count))) *
               (1 + 1e-9);
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

template <class Value> class Additive final : public EstimateTask {
    using Parts = BlocksLeft<Value>;
    static constexpr int axes = std::is_same_v<Value, Tracked> ? 1 : 2; // real, imaginary

  public:
    Additive(const InputPattern &input, const Values &values, const Options &options,
             const EstimateRequest &request)
        : EstimateTask(options, request), radius_(request.delta, axes) {
        Parts parts(input, values, options);
        known_.additive = true;
        known_.blocks = parts.blocks;
        known_.blocks_exact = parts.is_zero ? parts.blocks : parts.blocks_exact;
        known_.exact = parts.is_zero || parts.left.empty();
        if (!parts.is_zero) {
            product_ = disc_of(parts.known);
            plan_blocks(parts.left);
        }
        if (!known_.exact) {
            known_.epsilon = infinity;
            known_.delta = request_.delta;
            known_.method = method();
        }
    }

  private:
    struct Sampled {
        GlynnSampler sampler;
        std::uint64_t seed;
        std::int64_t exp2;
        double rounding;
    };

    void plan_blocks(const std::vector<typename Parts::Left> &left) {
        const auto blocks = static_cast<double>(std::max<std::size_t>(left.size(), 1));
        radius_ = Radius(request_.delta / blocks, axes);
        double samples = radius_.samples(request_.epsilon);
        if (request_.samples > 0) samples = std::min(samples, static_cast<double>(request_.samples) / blocks);
        const auto chunks = static_cast<std::uint64_t>(std::max(
            1.0, std::ceil(std::min(samples, 1e18) / static_cast<double>(GlynnSampler::chunk_samples))));
        Randomness seeds(request_.seed, 2);
        for (const auto &one : left) {
            const Entries entries(one.leaf.block);
            GlynnSampler sampler(one.leaf.block.pattern, entries.value, entries.off);
            const double rounding = sampler.rounding() + std::exp(entries.log_lost - sampler.log_bound()) +
                                    one.leaf.block.n() * 0x1p-45; // what the logarithm of the bound is off by
            bytes_ += sampler.bytes();
            sampled_.push_back({std::move(sampler), seeds.next(), entries.exp2, rounding});
        }
        for (const Sampled &one : sampled_) {
            const auto sum = [&one](std::uint64_t first, std::span<SampleSums> sums, SampleDevices *) {
                parallel_for(sums.size(), [&](std::uint64_t k) {
                    sums[k] = one.sampler.draw(one.seed, first + k);
                    call().advance(1);
                });
            };
            pieces_.emplace_back(sum, static_cast<double>(chunks), chunks, one.sampler.seconds_of_chunk());
        }
    }

    const char *method() const override { return sampled_.empty() ? "exact" : "glynn"; }

    std::string digest_of_block(std::size_t block) const override {
        const Sampled &one = sampled_[block];
        return one.sampler.digest() + written(std::vector<std::uint64_t>{one.seed, pieces_[block].limit()});
    }

    std::string promise() const override {
        return formatted("an estimate within {} of its scale", request_.epsilon);
    }

    MatrixEstimate estimate(PieceStore *store, SampleDevices *devices, const Told &told) const override {
        MatrixEstimate out = known_;
        Disc all = product_;
        for (std::size_t k = 0; k < sampled_.size(); ++k) {
            const CurrentCall part = for_block(k, store);
            const Disc before = all;
            const std::int64_t samples_before = out.samples;
            SampleSums sums(GlynnSampler::all_sums, 0.0);
            std::int64_t pieces = 0;
            const auto take = [&](std::span<const SampleSums> next) {
                for (const SampleSums &one : next) add(sums, one);
                pieces += std::ssize(next);
                const auto count =
                    static_cast<std::int64_t>(pieces_[k].chunks_before(static_cast<std::uint64_t>(pieces)) *
                                              GlynnSampler::chunk_samples);
                all = before * disc_of_block(sampled_[k], sums, static_cast<double>(count));
                out.samples = out.accepted = samples_before + count;
                log_decision(formatted("block {} of {}: {} samples", k + 1, sampled_.size(), count));
                if (told && k + 1 == sampled_.size()) told(with(out, all));
                return false;
            };
            pieces_[k].add_up(take, devices);
        }
        return with(out, all);
    }

    Disc disc_of_block(const Sampled &one, const SampleSums &sums, double count) const {
        const double log_scale = one.sampler.log_bound();
        const double exp2 = std::floor(log_scale / std::numbers::ln2);
        const double scale = std::exp(log_scale - exp2 * std::numbers::ln2);
        const Complex all(sums[GlynnSampler::re], sums[GlynnSampler::im]);
        return {all / count * scale, (radius_.of(sums, count) + one.rounding) * scale,
                static_cast<std::int64_t>(exp2) + one.exp2};
    }

    static MatrixEstimate with(MatrixEstimate out, const Disc &x) {
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
        return out;
    }

    Radius radius_;
    std::vector<Sampled> sampled_;
    Disc product_; // of what is known
};

} // namespace

GlynnSampler::GlynnSampler(Pattern pattern, std::vector<Complex> entries, std::vector<double> off)
    : a_(std::move(pattern)) {
    const Pattern &a = a_;
    const auto normal = count_of_normal(entries);
    const double scaled = scale_norms(a, entries, off);
    std::vector<double> row(at(a.rows), 0.0), row_off(at(a.rows), 0.0);
    std::size_t longest = 0;
    for_entries(a, [&](std::size_t i, std::size_t, std::size_t k) {
        row[i] += std::abs(entries[k]) + off[k];
        row_off[i] += off[k];
    });
    for (std::int32_t i = 0; i < a.rows; ++i) longest = std::max(longest, a.row(i).size());
    double by_rows = 0;
    for (const double x : row) by_rows += std::log(x) + 1e-14;
    const double log = std::min(by_rows, a.rows * std::log(singular_value_above(a, entries)));
    const double of_row = std::exp(log / a.rows);
    log_bound_ = scaled + log;
    re_.reserve(entries.size());
    im_.reserve(entries.size());
    for (const Complex &x : entries) {
        re_.push_back(x.real() / of_row);
        im_.push_back(x.imag() / of_row);
    }
    // Without k of the rows the product is at most exp(k / 2), so with each row's sum off by so much it is
    // off by (1 + sqrt(e) so much)^n - 1; where the rows' sums are the bound, by (1 + its share of each
    // sum)^n - 1.
    const double widest = *std::max_element(row.begin(), row.end()) / of_row;
    double most_off = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row_off[i] > 0)
            most_off = std::max(most_off, row_off[i] / (log < by_rows ? of_row : std::min(of_row, row[i])));
    const double in_sums = std::max(widest, 1.0) * static_cast<double>(longest + 8) * 0x1p-52;
    rounding_ = std::expm1(a.rows * std::log1p(1.7 * (in_sums + most_off)));
    // Scaling has brought the smallest ones so far down that they may have lost digits: as entries that are
    // off.
    if (count_of_normal(entries) < normal)
        rounding_ += a.rows * static_cast<double>(longest) * std::exp(by_rows - log - 690);
}

SampleSums GlynnSampler::draw(std::uint64_t seed, std::uint64_t number) const {
    SampleSums sums(all_sums, 0.0);
    std::vector<double> sign(at(a_.rows));
    for (std::int64_t s = 0; s < chunk_samples; ++s) {
        Randomness random(seed,
                          number * static_cast<std::uint64_t>(chunk_samples) + static_cast<std::uint64_t>(s));
        double product = 1, imaginary = 0;
        std::uint64_t bits = 0;
        for (std::size_t j = 0; j < sign.size(); ++j, bits >>= 1) {
            if (j % 64 == 0) bits = random.next();
            sign[j] = (bits & 1) != 0 ? -1 : 1;
            product *= sign[j];
        }
        std::size_t k = 0;
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            double x = 0, y = 0;
            for (const std::int32_t j : a_.row(i)) {
                x += sign[at(j)] * re_[k];
                y += sign[at(j)] * im_[k++];
            }
            const double next = product * x - imaginary * y;
            imaginary = product * y + imaginary * x;
            product = next;
        }
        sums[re] += product;
        sums[im] += imaginary;
        sums[re_squares] += product * product;
        sums[im_squares] += imaginary * imaginary;
    }
    return sums;
}

std::int64_t GlynnSampler::bytes() const {
    return static_cast<std::int64_t>(re_.size() * (2 * sizeof(double) + sizeof(std::int32_t)));
}

std::string GlynnSampler::digest() const {
    return digest_of_bytes(written(a_.row_ptr) + written(a_.col) + written(re_) + written(im_) +
                           written(std::vector<double>{log_bound_}));
}

double GlynnSampler::seconds_of_chunk() const {
    constexpr double of_entry = 1.5e-9, of_row = 5e-9;
    return static_cast<double>(chunk_samples) *
           (of_entry * static_cast<double>(re_.size()) + of_row * static_cast<double>(a_.rows));
}

std::unique_ptr<EstimateTask> additive_estimate(const InputPattern &input, const Values &values,
                                                const Options &options, const EstimateRequest &request) {
    if (some_complex(values)) return std::make_unique<Additive<Gaussian>>(input, values, options, request);
    return std::make_unique<Additive<Tracked>>(input, values, options, request);
}

} // namespace libperm
