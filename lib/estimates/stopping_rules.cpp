#include "lib/estimates/stopping_rules.hpp"
#include "jit/lanes/matching_walk.hpp"
#include "lib/number/doubles.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

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

} // namespace

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

namespace {

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

void BetSums::add(const BetSums &other) {
    count += other.count;
    positive += other.positive;
    sum += other.sum;
    logs.resize(other.logs.size());
    for (std::size_t k = 0; k < logs.size(); ++k) logs[k] += other.logs[k];
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

BetSums MeanBets::tally(std::span<const double> x) const {
    std::array<double, tally_samples> samples{}; // 0 is in no sum
    std::copy(x.begin(), x.end(), samples.begin());
    const std::vector<double> bets = sizes();
    std::vector<double> told(tally_doubles(bets.size()));
    tally_bets(samples, bets, told.data());
    return told_sums(static_cast<double>(x.size()), told);
}

BetSums MeanBets::told_sums(double count, std::span<const double> told) {
    BetSums out{count, told[1], told[0], {}};
    for (std::size_t k = 2; k < told.size(); k += 2)
        out.logs.push_back(std::log(told[k]) + told[k + 1] * std::numbers::ln2);
    return out;
}

// More than the roundings of all sums of logarithms: each sample's factor has three, and the sum over the
// chunks one for each of them, of no more than what it comes to.
double MeanBets::rounding(const BetSums &sums) {
    double most = 0;
    for (const double log : sums.logs) most = std::max(most, std::fabs(log));
    return 1e-6 + sums.count * (0x1p-50 + most * 0x1p-62);
}

// Whether bets say that the mean is not m: by how much the logarithm of what they came to is too large.
double MeanBets::excess(const BetSums &sums, double m, bool is_upper) const {
    const std::vector<Bet> &bets = is_upper ? upper_ : lower_;
    const double sign = is_upper ? -1 : 1;
    std::vector<double> logs;
    for (std::size_t k = 0; k < bets.size(); ++k)
        logs.push_back(bets[k].log_weight + sums.logs[is_upper ? k : upper_.size() + k] -
                       sums.count * std::log1p(sign * bets[k].size * m));
    return log_average(logs) - (is_upper ? log_upper_ : log_lower_) - rounding(sums);
}

MeanInterval MeanBets::interval(const BetSums &sums) const {
    if (sums.count == 0) return {};
    const auto upper_passes = [&](double m) { return excess(sums, m, true); };
    const auto lower_passes = [&](double m) { return excess(sums, m, false); };
    const double upper = upper_passes(1) > 0 ? passes_zero(1, 0, upper_passes) : 1;
    return {lower_passes(0) > 0 ? passes_zero(0, upper, lower_passes) : 0, upper};
}

} // namespace libperm
