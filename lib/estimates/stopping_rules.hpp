// When samples of numbers from [0, 1] are enough to know their mean. By successes, the gamma Bernoulli
// approximation scheme (Huber, A Bernoulli mean estimate with known relative error distribution, Random
// Structures and Algorithms 50 (2017)): samples are drawn until k are successes, and R is the sum of so
// many exponential variables; then (k - 1) / R over the mean has the law of (k - 1) / G, G being gamma
// distributed with shape k, whatever the mean. Or by bets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

// The probability that |(k - 1) / G - 1| > epsilon, to all digits however small.
double gamma_scheme_failure(std::int64_t k, double epsilon);

// A k with which that is delta at most: the least one, or, beyond a million or for a delta below 1e-200, the
// least that Chernoff's bound proves, at most twice as many. 2^62 where there is no less.
std::int64_t gamma_scheme_successes(double epsilon, double delta);

// The mean of independent numbers from [0, 1], by bets (docs/estimates.md; Waudby-Smith and Ramdas,
// Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86 (2024)).
//
// If the mean is m, then prod (1 - b x) / (1 - b m) and prod (1 + b x) / (1 + b m) over the samples x are
// martingales of mean 1 for any b, 0 < b < 1 or b > 0, fixed beforehand, and so is any average of such. One
// that is never negative comes to 1 / delta at any time with probability delta at most (Ville 1939). The m at
// which that of the first kind has not come to 1 / delta_u are those below an upper bound of the mean; of the
// second, above a lower bound.

struct MeanInterval {
    double lower = 0, upper = 1;
};

// Of the samples so far; what a bet needs to know of them.
struct BetSums {
    double count = 0, positive = 0, sum = 0;
    std::vector<double> logs; // of each bet: sum of log(1 - b x), then log(1 + b x)

    void add(const BetSums &other);
};

class MeanBets {
  public:
    // Such that the interval's ends come to the ratio (1 + epsilon) / (1 - epsilon) with few samples, if
    // these are like `pilot`, one of them not being 0. It covers the mean with probability 1 - delta whatever
    // they are like.
    MeanBets(std::span<const double> pilot, double epsilon, double delta);

    double expected_samples() const { return expected_; }
    std::vector<double> sizes() const;              // of all bets, those against the upper end negative
    BetSums tally(std::span<const double> x) const; // of a chunk of samples at most
    static BetSums told_sums(double count, std::span<const double> told); // by tally_bets
    MeanInterval interval(const BetSums &sums) const;

  private:
    struct Bet {
        double size, log_weight;
    };
    static double rounding(const BetSums &sums);
    double excess(const BetSums &sums, double m, bool is_upper) const;
    static std::vector<Bet> around(double size, double most);

    std::vector<Bet> upper_, lower_;
    double log_upper_ = 0, log_lower_ = 0; // of 1 / delta_u, 1 / delta_l
    double expected_ = 0;
};

} // namespace libperm
