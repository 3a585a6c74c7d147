// What an estimate is to come to (perm_estimate_opts, checked), and the pieces that its samples are drawn
// in.
#pragma once

#include "lib/run/call.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <perm.h>
#include <span>
#include <vector>

namespace libperm {

enum class EstimateMethod { automatic, nesting, rejection, glynn };

struct EstimateRequest {
    double epsilon = 0.01, delta = 0.05;
    std::uint64_t seed = 0;
    EstimateMethod method = EstimateMethod::automatic;
    std::int64_t samples = 0; // at most; 0: no limit
};

// NULL means all defaults. Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_OPTION).
EstimateRequest read_request(const perm_estimate_opts *opts);

// The samples of one block in pieces that anybody may sum up, in any order, with the same bits: chunks follow
// each other, so many in each piece, and a piece's sums are those of its chunks, added up one by one. There
// is no last piece.

class SampleDevices;

// What is to be known of samples, all of it adding up.
using SampleSums = std::vector<double>;
void add(SampleSums &all, const SampleSums &more);

// Of the chunks first, first + 1, ..., each one's into its place; by the devices, or, where there are none,
// on all threads. Progress is a chunk.
using SumChunks =
    std::function<void(std::uint64_t first, std::span<SampleSums> sums, SampleDevices *devices)>;

class SamplePieces {
  public:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    // expected: chunks that are enough, as far as one knows; limit: chunks at most; seconds: of one.
    SamplePieces(SumChunks sum, double expected, std::uint64_t limit, double seconds);

    std::uint64_t expected() const { return expected_; } // pieces, with some to spare
    std::uint64_t limit() const { return limit_; }       // pieces
    std::uint64_t chunks_before(std::uint64_t piece) const;
    double wanted_chunks() const { return wanted_; }      // expected to be enough
    double seconds() const { return wanted_ * seconds_; } // of these, on one thread
    double share_unknown(const PieceScope &scope) const;  // of the expected pieces, to this store

    // All of them from the first on, round by round, until take(those of the next round) says that they are
    // enough, or the limit is reached. Progress grows with what turns out to be needed.
    using Take = std::function<bool(std::span<const SampleSums>)>;
    void add_up(const Take &take, SampleDevices *devices) const;

    // Of `count` pieces; those that the call's store does not have are summed up, and kept there.
    std::vector<SampleSums> sums(std::uint64_t first, std::uint64_t count, SampleDevices *devices) const;

  private:
    std::uint64_t next_round(std::uint64_t done) const;

    SumChunks sum_;
    std::uint64_t chunks_ = 1; // in a piece
    std::uint64_t limit_chunks_, limit_, expected_;
    double wanted_;  // chunks, nothing to spare
    double seconds_; // of a chunk
};

// When samples of numbers from [0, 1] are enough to know their mean. By successes, the gamma Bernoulli
// approximation scheme (Huber, A Bernoulli mean estimate with known relative error distribution, Random
// Structures and Algorithms 50 (2017)): samples are drawn until k are successes, and R is the sum of so
// many exponential variables; then (k - 1) / R over the mean has the law of (k - 1) / G, G being gamma
// distributed with shape k, whatever the mean. Or by bets.

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

// Of the samples so far; what bets need to know of them: behind these, of each bet the sum of log(1 - b x),
// then log(1 + b x).
enum BetSums { bet_count, bet_positive, bet_sum, bet_logs };

class MeanBets {
  public:
    // Such that the interval's ends come to the ratio (1 + epsilon) / (1 - epsilon) with few samples, if
    // these are like `pilot`, one of them not being 0. It covers the mean with probability 1 - delta whatever
    // they are like.
    MeanBets(std::span<const double> pilot, double epsilon, double delta);

    double expected_samples() const { return expected_; }
    std::vector<double> sizes() const;                 // of all bets, those against the upper end negative
    SampleSums tally(std::span<const double> x) const; // of a chunk of samples at most
    static SampleSums told_sums(double count, std::span<const double> told); // by tally_bets
    MeanInterval interval(const SampleSums &sums) const;

  private:
    struct Bet {
        double size, log_weight;
    };
    static double rounding(const SampleSums &sums);
    double excess(const SampleSums &sums, double m, bool is_upper) const;
    static std::vector<Bet> around(double size, double most);

    std::vector<Bet> upper_, lower_;
    double log_upper_ = 0, log_lower_ = 0; // of 1 / delta_u, 1 / delta_l
    double expected_ = 0;
};

} // namespace libperm
