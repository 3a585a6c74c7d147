#include "lib/estimates/sample_pieces.hpp"

#include "jit/lanes/matching_walk.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/number/doubles.hpp"
#include "lib/samples/part_shots.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <oneapi/tbb/task_arena.h>
#include <optional>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

double probability(const char *name, double given, double otherwise) {
    if (given == 0) return otherwise;
    if (!(given > 0 && given < 1))
        throw Error(PERM_BAD_OPTION, formatted("{} is {}: it must be above 0 and below 1", name, given));
    return given;
}

EstimateMethod method_named(const char *name) {
    const std::string_view method = name ? name : "auto";
    if (method == "auto") return EstimateMethod::automatic;
    if (method == "nesting") return EstimateMethod::nesting;
    if (method == "rejection") return EstimateMethod::rejection;
    if (method == "glynn") return EstimateMethod::glynn;
    throw Error(PERM_BAD_OPTION,
                formatted("unknown method '{}': auto, nesting, rejection (of nonnegative matrices) or glynn",
                          method));
}

constexpr double pieces_expected = 512;                    // at least, and fewer than twice as many
constexpr double to_spare = 1.05;                          // times the chunks that are expected to be enough
constexpr double kept_seconds = 0.5;                       // of each thread, after which pieces are kept
constexpr std::uint64_t open_end = std::uint64_t{1} << 62; // that a store holds pieces of

SampleSums sums_of(const std::string &part) {
    try {
        return all_from<SampleSums>(part, "the sums of a piece");
    } catch (const DamagedField &) {
        throw Error(PERM_BAD_ARGUMENT, "a piece of the samples that is known has no such sums");
    }
}

constexpr std::int64_t most = std::int64_t{1} << 62;

// u - log(1 + u)
double log_excess(double u) {
    return std::fabs(u) < 1e-4 ? u * u * (0.5 - u / 3 + u * u / 4 - u * u * u / 5) : u - std::log1p(u);
}

// At least the logarithm of gamma_scheme_failure: with x = k (1 + u) both tails are at most exp(-k (u - log(1
// + u))) (Chernoff), below for u < 0 and above for u > 0.
double log_failure_above(std::int64_t k, double epsilon) {
    const auto shape = static_cast<double>(k);
    const double above = (epsilon - 1 / shape) / (1 - epsilon),
                 below = -(epsilon + 1 / shape) / (1 + epsilon);
    if (k == 1 || !(above > 0)) return std::numbers::ln2;
    const double a = -shape * log_excess(above), b = -shape * log_excess(below);
    return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))) + 1e-6; // more than the roundings
}

// The least k up to `high` that does; `high` if none before it.
template <class Does> std::int64_t least(std::int64_t high, const Does &does) {
    std::int64_t low = 1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (does(middle) ? high : low) = middle;
    }
    return high;
}

constexpr double planned_share = 0.9; // of an average of bets, that of the planned one
constexpr double most_upper = 0.98;   // a bet: one sample of 1 then costs a factor of 50
constexpr double most_lower = 1e30;   // another: that the tally has doubles for

// Samples in groups of about one size, for looking for good bets: the largest alone, and those that are 0.
struct Groups {
    std::vector<double> value, share;
    double mean = 0;

    explicit Groups(std::span<const double> samples) {
        constexpr std::size_t alone = 16, most = 100;
        std::vector<double> sorted(samples.begin(), samples.end());
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        const auto positive = static_cast<std::size_t>(
            std::lower_bound(sorted.begin(), sorted.end(), 0.0, std::greater<>()) - sorted.begin());
        for (std::size_t begin = 0; begin < sorted.size();) {
            const std::size_t size = begin < alone      ? 1
                                     : begin < positive ? positive / most + 1
                                                        : sorted.size();
            const std::size_t end = std::min(begin + size, begin < positive ? positive : sorted.size());
            add(std::span(sorted).subspan(begin, end - begin), static_cast<double>(sorted.size()));
            begin = end;
        }
    }

  private:
    void add(std::span<const double> group, double count) {
        const double all = std::accumulate(group.begin(), group.end(), 0.0);
        value.push_back(all / static_cast<double>(group.size()));
        share.push_back(static_cast<double>(group.size()) / count);
        mean += all / count;
    }
};

struct BetGrowth {
    double rate = 0, bet = 0; // of the martingale's logarithm, a sample
};

// Of all bets up to `most` the one that grows quickest against a wrong mean: its rate is concave in the bet.
// Golden sections of the logarithm.
template <class Rate> BetGrowth quickest(double most, const Rate &rate) {
    constexpr double part = 0.6180339887498949;
    constexpr int sections = 30;
    double low = std::log(most) - 25, high = std::log(most);
    double x = high - part * (high - low), y = low + part * (high - low);
    double at_x = rate(std::exp(x)), at_y = rate(std::exp(y));
    for (int k = 0; k < sections; ++k) {
        if (at_x > at_y) {
            high = std::exchange(y, x);
            at_y = at_x;
            at_x = rate(std::exp(x = high - part * (high - low)));
        } else {
            low = std::exchange(x, y);
            at_x = at_y;
            at_y = rate(std::exp(y = low + part * (high - low)));
        }
    }
    const double bet = std::exp((low + high) / 2);
    return {rate(bet), bet};
}

// Against a mean of m or more, by bets on less, or of m or less.
BetGrowth against(const Groups &x, double m, bool is_upper) {
    const double most = is_upper ? most_upper : std::min(1e3 / x.mean, most_lower);
    return quickest(most, [&](double size) {
        const double bet = is_upper ? -size : size;
        double sum = -std::log1p(bet * m);
        for (std::size_t k = 0; k < x.value.size(); ++k) sum += x.share[k] * std::log1p(bet * x.value[k]);
        return sum;
    });
}

double samples_for(double log, const BetGrowth &growth) {
    return growth.rate > 0 ? log / growth.rate : infinity;
}

// Of an average of exp(log) with weights exp(log_weight).
double log_average(std::span<const double> logs) {
    const double most = *std::max_element(logs.begin(), logs.end());
    if (!(most > -infinity)) return most;
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - most);
    return most + std::log(sum);
}

// Where a function of [low, high] that is above 0 at one end alone passes 0, on that side.
template <class Function> double passes_zero(double above, double below, const Function &f) {
    for (int k = 0; k < 200; ++k) {
        const double middle = std::min(above, below) + std::fabs(above - below) / 2;
        if (middle == above || middle == below) break;
        (f(middle) > 0 ? above : below) = middle;
    }
    return above;
}

} // namespace

EstimateRequest read_request(const perm_estimate_opts *opts) {
    if (!opts) return {};
    if (opts->struct_size < sizeof(perm_estimate_opts))
        throw Error(PERM_BAD_ARGUMENT,
                    "perm_estimate_opts.struct_size is too small: start from PERM_ESTIMATE_OPTS_INIT");
    const EstimateRequest defaults;
    EstimateRequest request;
    request.epsilon = probability("epsilon", opts->epsilon, defaults.epsilon);
    request.delta = probability("delta", opts->delta, defaults.delta);
    request.seed = opts->seed;
    request.method = method_named(opts->method);
    if (opts->samples < 0)
        throw Error(PERM_BAD_OPTION,
                    formatted("samples is {}: 0 (as many as it takes) or more", opts->samples));
    request.samples = opts->samples;
    return request;
}

void add(SampleSums &all, const SampleSums &more) {
    if (all.empty()) all.resize(more.size());
    if (all.size() != more.size())
        throw Error(PERM_BAD_ARGUMENT, "pieces of the samples that are known are of different methods");
    for (std::size_t k = 0; k < more.size(); ++k) all[k] += more[k];
}

SamplePieces::SamplePieces(SumChunks sum, double expected, std::uint64_t limit, double seconds)
    : sum_(std::move(sum)), limit_chunks_(limit), seconds_(seconds) {
    const double most = limit == no_limit ? 0x1p50 : static_cast<double>(limit);
    wanted_ = std::clamp(expected, 1.0, most);
    chunks_ = std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, wanted_ / pieces_expected)));
    limit_ = limit == no_limit ? no_limit : limit / chunks_ + (limit % chunks_ != 0);
    expected_ = std::min(
        limit_, static_cast<std::uint64_t>(std::ceil(to_spare * wanted_ / static_cast<double>(chunks_))));
}

std::uint64_t SamplePieces::chunks_before(std::uint64_t piece) const {
    return piece >= limit_ ? limit_chunks_ : piece * chunks_;
}

double SamplePieces::share_unknown(const PieceScope &scope) const {
    std::uint64_t unknown = 0;
    for (std::uint64_t k = 0; k < expected_; ++k) unknown += !scope.store->find(scope.task, open_end, k);
    return static_cast<double>(unknown) / static_cast<double>(expected_);
}

// Nine tenths of what is expected; where that takes long, after looks at halves of it, and then little by
// little. It follows from the plan alone.
std::uint64_t SamplePieces::next_round(std::uint64_t done) const {
    const double pieces = wanted_ / static_cast<double>(chunks_);
    const double first = std::max(1.0, std::floor(0.9 * pieces)), so_far = static_cast<double>(done);
    double next = so_far < first ? first : so_far * 1.05;
    if (so_far < first && pieces >= pieces_expected)
        for (const double part : {2, 4, 8, 16, 32, 64})
            if (first / part > so_far) next = std::ceil(first / part);
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(next - so_far), 1, limit_ - done);
}

void SamplePieces::add_up(const Take &take, SampleDevices *devices) const {
    double promised = wanted_;
    for (std::uint64_t done = 0; done < limit_;) {
        const std::uint64_t count = next_round(done);
        if (const auto needed = static_cast<double>(chunks_before(done + count)); needed > promised) {
            call().expect_more(needed - promised);
            promised = needed;
        }
        if (take(sums(done, count, devices))) return;
        done += count;
    }
}

std::vector<SampleSums> SamplePieces::sums(std::uint64_t first, std::uint64_t count,
                                           SampleDevices *devices) const {
    const PieceScope &scope = call().pieces();
    std::vector<SampleSums> all(count);
    std::vector<std::uint64_t> todo;
    for (std::uint64_t k = first; k < first + count; ++k)
        if (const auto part = scope.store ? scope.store->find(scope.task, open_end, k) : std::nullopt) {
            all[k - first] = sums_of(*part);
            call().skip(static_cast<double>(chunks_before(k + 1) - chunks_before(k)));
        } else {
            todo.push_back(k);
        }
    double at_once = most_chunks_at_once;
    if (scope.store && !devices)
        at_once =
            std::min(at_once, kept_seconds / seconds_ * oneapi::tbb::this_task_arena::max_concurrency());
    const auto of = [this](std::uint64_t k) { return NumberRange{chunks_before(k), chunks_before(k + 1)}; };
    const auto draw = [&](std::uint64_t chunk, std::span<SampleSums> sums) { sum_(chunk, sums, devices); };
    const auto keep = [&](std::uint64_t k, SampleSums sums) {
        if (scope.store) scope.store->keep({scope.task, open_end, k, written(sums)});
        all[k - first] = std::move(sums);
    };
    made_of_chunks(SampleSums(), at_once, of, draw, add)(todo, keep);
    return all;
}

double gamma_scheme_failure(std::int64_t k, double epsilon) {
    const auto shape = static_cast<double>(k), mean = shape - 1;
    return boost::math::gamma_p(shape, mean / (1 + epsilon)) +
           boost::math::gamma_q(shape, mean / (1 - epsilon));
}

std::int64_t gamma_scheme_successes(double epsilon, double delta) {
    // Beyond, Chernoff's bound has to do; below the least of deltas there are no more digits.
    constexpr std::int64_t most_summed = 1000000;
    constexpr double least_summed = 1e-200;
    const double log = std::log(delta);
    const std::int64_t enough =
        least(most, [&](std::int64_t k) { return log_failure_above(k, epsilon) <= log; });
    if (enough > most_summed || delta < least_summed) return enough;
    constexpr double rounded = 1 + 1e-9; // what Boost's functions may lose is far less
    return least(enough, [&](std::int64_t k) { return gamma_scheme_failure(k, epsilon) * rounded <= delta; });
}

std::vector<MeanBets::Bet> MeanBets::around(double size, double most) {
    constexpr std::array others{4.0, 1.0 / 4, 1.0 / 16, 1.0 / 128, 1.0 / 2048};
    std::vector<Bet> bets{{size, std::log(planned_share)}};
    for (const double factor : others)
        bets.push_back({std::min(most, size * factor), std::log((1 - planned_share) / others.size())});
    return bets;
}

MeanBets::MeanBets(std::span<const double> pilot, double epsilon, double delta) : expected_(infinity) {
    const Groups x(pilot);
    const double ratio = (1 + epsilon) / (1 - epsilon), at_planned = -std::log(planned_share);
    for (const double share : {0.5, 0.7, 0.85}) { // of delta, above
        const double above = at_planned - std::log(share * delta),
                     below = at_planned - std::log((1 - share) * delta);
        double low = 0, high = ratio - 1; // how far above the mean the upper end is to come
        BetGrowth up, down;
        double samples = infinity;
        for (int k = 0; k < 12; ++k) {
            const double margin = (low + high) / 2, upper = std::min(x.mean * (1 + margin), 1.0);
            const BetGrowth this_up = against(x, upper, true),
                            this_down = against(x, x.mean * (1 + margin) / ratio, false);
            const double of_upper = upper < 1 ? samples_for(above, this_up) : 0, // that is known beforehand
                of_lower = samples_for(below, this_down);
            if (std::max(of_upper, of_lower) < samples) {
                samples = std::max(of_upper, of_lower);
                up = this_up;
                down = this_down;
            }
            (of_upper > of_lower ? low : high) = margin;
        }
        if (samples >= expected_) continue;
        expected_ = samples;
        upper_ = around(up.bet, most_upper);
        lower_ = around(down.bet, most_lower);
        log_upper_ = -std::log(share * delta);
        log_lower_ = -std::log((1 - share) * delta);
    }
    if (!upper_.empty()) return;
    upper_ = around(most_upper, most_upper); // nothing helps: samples that are all alike do not come here
    lower_ = around(1 / x.mean, most_lower);
    log_upper_ = log_lower_ = -std::log(delta / 2);
}

std::vector<double> MeanBets::sizes() const {
    std::vector<double> sizes;
    for (const Bet &bet : upper_) sizes.push_back(-bet.size);
    for (const Bet &bet : lower_) sizes.push_back(bet.size);
    return sizes;
}

SampleSums MeanBets::tally(std::span<const double> x) const {
    std::array<double, tally_samples> samples{}; // 0 is in no sum
    std::copy(x.begin(), x.end(), samples.begin());
    const std::vector<double> bets = sizes();
    std::vector<double> told(tally_doubles(bets.size()));
    tally_bets(samples, bets, told.data());
    return told_sums(static_cast<double>(x.size()), told);
}

SampleSums MeanBets::told_sums(double count, std::span<const double> told) {
    SampleSums out{count, told[1], told[0]};
    for (std::size_t k = 2; k < told.size(); k += 2)
        out.push_back(std::log(told[k]) + told[k + 1] * std::numbers::ln2);
    return out;
}

// More than the roundings of all sums of logarithms: each sample's factor has three, and the sum over the
// chunks one for each of them, of no more than what it comes to.
double MeanBets::rounding(const SampleSums &sums) {
    double most = 0;
    for (std::size_t k = bet_logs; k < sums.size(); ++k) most = std::max(most, std::fabs(sums[k]));
    return 1e-6 + sums[bet_count] * (0x1p-50 + most * 0x1p-62);
}

// Whether bets say that the mean is not m: by how much the logarithm of what they came to is too large.
double MeanBets::excess(const SampleSums &sums, double m, bool is_upper) const {
    const std::vector<Bet> &bets = is_upper ? upper_ : lower_;
    const double sign = is_upper ? -1 : 1;
    std::vector<double> logs;
    for (std::size_t k = 0; k < bets.size(); ++k)
        logs.push_back(bets[k].log_weight + sums.at(bet_logs + (is_upper ? k : upper_.size() + k)) -
                       sums[bet_count] * std::log1p(sign * bets[k].size * m));
    return log_average(logs) - (is_upper ? log_upper_ : log_lower_) - rounding(sums);
}

MeanInterval MeanBets::interval(const SampleSums &sums) const {
    if (sums.at(bet_count) == 0) return {};
    const auto upper_passes = [&](double m) { return excess(sums, m, true); };
    const auto lower_passes = [&](double m) { return excess(sums, m, false); };
    const double upper = upper_passes(1) > 0 ? passes_zero(1, 0, upper_passes) : 1;
    return {lower_passes(0) > 0 ? passes_zero(0, upper, lower_passes) : 0, upper};
}

} // namespace libperm
