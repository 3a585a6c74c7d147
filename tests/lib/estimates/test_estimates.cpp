// Estimates of nonnegative blocks: the bound that they rest on, their law, and what they guarantee.
#include "bench/families.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/threads.hpp"
#include "lib/bounds/potential.hpp"
#include "lib/estimates/additive.hpp"
#include "lib/estimates/nonnegative.hpp"
#include "lib/estimates/sample_pieces.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "tests/support/dense_logs.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Over sets of columns: no cancellation.
double permanent(const Dense &a) {
    const std::size_t n = a.size();
    std::vector<double> sum(std::size_t{1} << n, 0.0);
    sum[0] = 1;
    for (std::size_t set = 1; set < sum.size(); ++set) {
        const auto row = at(__builtin_popcountll(set) - 1);
        for (std::size_t j = 0; j < n; ++j)
            if ((set >> j & 1) != 0) sum[set] += a[row][j] * sum[set ^ std::size_t{1} << j];
    }
    return sum.back();
}

double mean_of(const std::vector<double> &x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// The least number that a binomial variable is above with a probability below 1e-9.
std::int64_t rare_count(double trials, double probability) {
    double below = 0;
    for (double k = 0;; ++k) {
        below += std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) +
                          k * std::log(probability) + (trials - k) * std::log1p(-probability));
        if (1 - below < 1e-9) return static_cast<std::int64_t>(k);
    }
}

} // namespace

TEST_CASE("the potential bounds the permanent, whatever the order") {
    Random random(run::seed(261));
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 9);
        const Dense a = random_dense(n, random);
        Potential potential(log_matrix(a));
        const double truth = std::log(permanent(a));
        CHECK(truth <= potential.log_bound() + 1e-10);
        potential.improve_order(5, 1e9);
        CHECK(truth <= potential.log_bound() + 1e-10);
        CHECK(truth <= Potential(transposed(log_matrix(a))).log_bound() + 1e-10);
    }
}

TEST_CASE("the order that is found is the same with any number of threads") {
    Random random(run::seed(264));
    int moved = 0;
    for (int trial = 0; trial < run::cases(20); ++trial) {
        CAPTURE(trial);
        const LogMatrix a = log_matrix(random_dense(random.integer(3, 20), random));
        const Potential before(a);
        const auto improved = [&](int threads) {
            Potential potential(a);
            with_threads(threads, [&] { potential.improve_order(100, 50 * 100 * 100); });
            return potential;
        };
        const Potential one = improved(1);
        for (const int threads : {2, 5, 16}) {
            const Potential other = improved(threads);
            CHECK(one.columns() == other.columns());
            CHECK(one.log_bound() == other.log_bound());
        }
        moved += one.columns() != before.columns();
    }
    CHECK(moved > run::enough(10));
}

TEST_CASE("a potential of many entries looks on its way whether it is to stop") {
    struct Stopped {};
    Random random(run::seed(262));
    Dense full(400, std::vector<double>(400));
    for (std::vector<double> &row : full)
        for (double &x : row) x = static_cast<double>(random.integer(1, 1000));
    const LogMatrix a = log_matrix(full);
    std::int64_t polls = 0;
    const Potential potential = [&] {
        const PolledBy counted([&] { ++polls; });
        return Potential(a);
    }();
    REQUIRE(polls > 6); // more than one in each of some turns
    for (std::int64_t k = 1; k <= polls; k += polls / 4) {
        std::int64_t left = k;
        const PolledBy stop([&] {
            if (--left == 0) throw Stopped{};
        });
        CHECK_THROWS_AS(static_cast<void>(Potential{a}), Stopped);
    }
}

TEST_CASE("the potential of matrices whose bound is the permanent") {
    for (const std::size_t n : {1, 2, 5, 30}) {
        const Dense ones(n, std::vector<double>(n, 3.0));
        const double truth = std::lgamma(static_cast<double>(n) + 1) + static_cast<double>(n) * std::log(3.0);
        CHECK(Potential(log_matrix(ones)).log_bound() == doctest::Approx(truth).epsilon(1e-3));
        Dense lower(n, std::vector<double>(n, 0.0)); // a triangle, of one matching
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) lower[i][j] = static_cast<double>(i + 2 * j + 1);
        double diagonal = 0;
        for (std::size_t i = 0; i < n; ++i) diagonal += std::log(lower[i][i]);
        CHECK(Potential(log_matrix(lower)).log_bound() >= diagonal - 1e-9);
    }
}

TEST_CASE("the samples' mean is the permanent over the bound") {
    Random random(run::seed(262));
    for (int trial = 0; trial < 12; ++trial) {
        CAPTURE(trial);
        const Dense a = random_dense(random.integer(2, 8), random);
        const Potential potential(log_matrix(a));
        const Sampler sampler(potential);
        std::vector<double> samples(64 * Sampler::chunk_samples);
        for (std::size_t k = 0; k < 64; ++k)
            sampler.draw(7, k,
                         std::span(samples).subspan(k * Sampler::chunk_samples, Sampler::chunk_samples));
        for (const double x : samples) REQUIRE((x >= 0 && x <= 1));
        const double mean = mean_of(samples), truth = permanent(a) / std::exp(potential.log_bound());
        // Of numbers of [0, 1] the variance is at most mean (1 - mean): seven standard deviations.
        const double far = 7 * std::sqrt(truth / static_cast<double>(samples.size())) + 1e-4;
        CHECK(std::fabs(mean - truth) < far);
    }
}

TEST_CASE("the gamma scheme's arithmetic, against its paper's formula") {
    // |1 / G - 1| > epsilon for shape 2 in closed form: of P(G <= x) = 1 - (1 + x) exp(-x) both tails.
    for (const double epsilon : {0.1, 0.5, 0.9}) {
        const auto above = [](double x) { return (1 + x) * std::exp(-x); };
        CHECK(gamma_scheme_failure(2, epsilon) ==
              doctest::Approx(1 - above(1 / (1 + epsilon)) + above(1 / (1 - epsilon))).epsilon(1e-13));
    }
    for (const double epsilon : {0.3, 0.1, 0.03}) {
        const std::int64_t successes = gamma_scheme_successes(epsilon, 0.05);
        CHECK(gamma_scheme_failure(successes, epsilon) <= 0.05);
        CHECK(gamma_scheme_failure(successes - 1, epsilon) > 0.05);
        // Huber 2017, Lemma 3: k = ceil(2 epsilon^-2 (1 - 4 epsilon / 3)^-1 log(2 / delta)) suffices.
        CHECK(static_cast<double>(successes) <=
              std::ceil(2 / (epsilon * epsilon) / (1 - 4 * epsilon / 3) * std::log(2 / 0.05)));
    }
    CHECK(gamma_scheme_successes(0.1, 0.05) ==
          385); // the number that Harviainen and Koivisto (AAAI 2023) name
}

TEST_CASE("the gamma scheme for the smallest delta and epsilon") {
    std::int64_t before = 0;
    for (const double delta : {1e-10, 1e-16, 1e-20, 1e-100, 1e-200, 1e-300, 5e-324}) {
        CAPTURE(delta);
        const std::int64_t k = gamma_scheme_successes(0.1, delta);
        CHECK(k > before);
        // The upper tail alone is about exp(-k (u - log(1 + u))) / (u (2 pi k)^(1/2)), u being 1 / 9.
        const double u = 1.0 / 9, size = static_cast<double>(k);
        CHECK(-size * (u - std::log1p(u)) < std::log(delta) + std::log(size));
        before = k;
    }
    // As many as the normal law says, or up to twice that, and at once; those that no integer has are 2^62.
    for (const double epsilon : {1e-3, 1e-5, 1e-8}) {
        const double normal = std::pow(1.959963984540054 / epsilon, 2);
        const auto k = static_cast<double>(gamma_scheme_successes(epsilon, 0.05));
        CHECK(k > 0.99 * normal);
        CHECK(k < 2.1 * normal);
    }
    CHECK(gamma_scheme_successes(1e-12, 0.05) == std::int64_t{1} << 62);
    CHECK(gamma_scheme_successes(0.1, 0) == std::int64_t{1} << 62);
}

TEST_CASE("bets cover the mean, at all times and for any law") {
    constexpr double delta = 0.2, epsilon = 0.2;
    const int runs = run::sanitized ? 40 : 300;
    const std::int64_t allowed = rare_count(runs, delta);
    struct Law {
        double often, seldom, probability; // of `seldom`
    };
    for (const Law law : {Law{0, 1, 0.05}, Law{0.3, 0.4, 0.5}, Law{0.001, 0.9, 0.002}}) {
        CAPTURE(law.probability);
        const double mean = law.often * (1 - law.probability) + law.seldom * law.probability;
        int misses = 0, compared = 0;
        for (int run = 0; run < runs; ++run) {
            Randomness random(99, static_cast<std::uint64_t>(run));
            const auto draw = [&](std::size_t count) {
                std::vector<double> x(count);
                for (double &one : x) one = random.uniform() < law.probability ? law.seldom : law.often;
                return x;
            };
            std::vector<double> pilot = draw(500);
            pilot.front() = law.seldom;
            const MeanBets bets(pilot, epsilon, delta);
            SampleSums sums;
            MeanInterval interval;
            bool missed = false;
            do {
                add(sums, bets.tally(draw(64)));
                interval = bets.interval(sums);
                missed = missed || mean < interval.lower || mean > interval.upper; // at any time
                ++compared;
            } while (interval.upper > interval.lower * (1 + epsilon) / (1 - epsilon) &&
                     sums[bet_count] < 2e5);
            misses += missed;
        }
        CHECK(misses <= allowed);
        CHECK(compared >= runs);
    }
}

TEST_CASE("what bets expect, and how it grows") {
    Randomness random(5, 5);
    std::vector<double> pilot(4000);
    for (double &x : pilot) x = 0.01 * random.uniform(); // mean 0.005, relative variance 1/3
    const double coarse = MeanBets(pilot, 0.1, 0.05).expected_samples(),
                 fine = MeanBets(pilot, 0.01, 0.05).expected_samples();
    CHECK(coarse > 200);
    CHECK(coarse < 2 * std::log(40) / (0.1 * 0.1 * 0.005)); // successes and failures alone
    CHECK(fine > 5 * coarse);
    CHECK(fine < 150 * coarse);
}

TEST_CASE("what entries are off by, signed and nearly cancelled ones too, is in the additive error") {
    Random random(run::seed(264));
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        const std::int64_t n = random.integer(2, 8);
        Dense a(at(n), std::vector<double>(at(n)));
        Pattern pattern;
        pattern.rows = pattern.cols = static_cast<std::int32_t>(n);
        std::vector<std::complex<double>> entries;
        std::vector<double> off;
        Dense other = a;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const bool is_cancelled = random.integer(0, 9) == 0;
                a[at(i)][at(j)] = random.uniform(-1, 1) * (is_cancelled ? 1e-12 : 1);
                off.push_back(is_cancelled ? 1e-4 : 1e-9);
                other[at(i)][at(j)] = a[at(i)][at(j)] + random.uniform(-1, 1) * off.back();
                pattern.col.push_back(static_cast<std::int32_t>(j));
                entries.emplace_back(a[at(i)][at(j)]);
            }
            pattern.row_ptr.push_back(std::ssize(pattern.col));
        }
        const GlynnSampler sampler(pattern, entries, off);
        const double moved = std::fabs(permanent(a) - permanent(other));
        CHECK(moved <= sampler.rounding() * std::exp(sampler.log_bound()) * (1 + 1e-9) + 1e-12);
        CHECK(std::isfinite(sampler.rounding()));
        compared += moved > 1e-9;
    }
    CHECK(compared > 0);
}

TEST_CASE("estimates keep their promise") {
    Random random(run::seed(263));
    struct Promise {
        double epsilon, delta;
    };
    for (const auto [epsilon, delta] : {Promise{0.2, 0.2}, Promise{0.1, 0.05}, Promise{0.03, 0.05}})
        for (const auto method : {EstimateMethod::nesting, EstimateMethod::rejection}) {
            const int runs = run::cases(60);
            int misses = 0;
            for (int k = 0; k < runs; ++k) {
                const Dense a = random_dense(random.integer(4, 13), random);
                BlockEstimate estimate(log_matrix(a), random.bits());
                estimate.aim(epsilon, delta, method);
                const ShareFound found = estimate.run(estimate.pieces(0), nullptr);
                const double truth = permanent(a) / std::exp(estimate.log_bound());
                const double off = estimate.rounding();
                misses +=
                    truth < found.interval.lower * (1 - off) || truth > found.interval.upper * (1 + off);
                CHECK(found.interval.upper <=
                      found.interval.lower * (1 + epsilon) / (1 - epsilon) * (1 + 1e-12));
                CHECK(found.samples > 0);
            }
            CHECK(misses <= rare_count(runs, delta));
            MESSAGE("epsilon ", epsilon, ", delta ", delta,
                    std::string(method == EstimateMethod::nesting ? ", nesting: " : ", rejection: "), misses,
                    " of ", runs, " outside");
        }
}
