// perm_estimate: what is exact, what is promised, the same bits for one seed, and what it refuses.
#include "bench/families.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

struct Estimate {
    perm_status status;
    perm_estimated found;
};

Estimate estimate(const perm::Csr &a, double epsilon, std::uint64_t seed = 1, const char *without = nullptr,
                  int threads = 0, const char *method = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.without = without;
    opts.threads = threads;
    opts.device = "cpu";
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = epsilon;
    wanted.seed = seed;
    wanted.method = method;
    Estimate out{PERM_OK, PERM_ESTIMATED_INIT};
    const perm_csr view = a.view();
    out.status = perm_estimate(&view, &opts, &wanted, &out.found);
    return out;
}

double log2_of(double mantissa, std::int64_t exp2) { return std::log2(mantissa) + static_cast<double>(exp2); }

constexpr const char *no_merging = "merge,periodic,structure";

} // namespace

TEST_CASE("what is small is exact") {
    Random random(run::seed(251));
    for (int k = 0; k < run::cases(20); ++k) {
        const perm::Csr a = permutation_plus(random.integer(1, 9), 3, Entries::counts, random.bits());
        const Estimate e = estimate(a, 0.1);
        REQUIRE(e.status == PERM_OK);
        CHECK(e.found.exact == 1);
        CHECK(e.found.epsilon == 0);
        CHECK(e.found.samples == 0);
        CHECK(e.found.re == doctest::Approx(oracle::by_definition(a).get_d()).epsilon(1e-12));
        CHECK(e.found.blocks == e.found.blocks_exact);
    }
}

TEST_CASE("permanents that are known, far beyond what is computed") {
    // 60! of ones, and of J - I the derangements 60! / e to 1e-80.
    const double of_ones = std::lgamma(61.0) / std::log(2.0);
    for (const double epsilon : {0.1, 0.03})
        for (const std::uint64_t seed : {1, 2, 3}) {
            for (const bool is_full : {true, false}) {
                const perm::Csr a = is_full ? constant(60, 1) : derangements(60);
                const double truth = is_full ? of_ones : of_ones - std::log2(std::exp(1.0));
                const Estimate e = estimate(a, epsilon, seed, no_merging);
                REQUIRE(e.status == PERM_OK);
                CHECK(e.found.exact == 0);
                CHECK(e.found.epsilon == epsilon);
                CHECK(e.found.delta == 0.05);
                CHECK(e.found.samples > 0);
                const double off = log2_of(e.found.mantissa_re, e.found.exp2) - truth;
                CHECK(std::fabs(std::exp2(off) - 1) <= epsilon);
                CHECK(log2_of(e.found.lower_mantissa, e.found.lower_exp2) <= truth + 1e-9);
                CHECK(log2_of(e.found.upper_mantissa, e.found.upper_exp2) >= truth - 1e-9);
                CHECK(std::string(e.found.method) == "nesting");
            }
        }
}

TEST_CASE("rejection, and a limit of samples") {
    const double truth = std::lgamma(41.0) / std::log(2.0);
    const Estimate e = estimate(constant(40, 1), 0.1, 5, no_merging, 0, "rejection");
    REQUIRE(e.status == PERM_OK);
    CHECK(std::string(e.found.method) == "rejection");
    CHECK(e.found.accepted == 385);
    CHECK(e.found.samples >= e.found.accepted);
    CHECK(std::fabs(std::exp2(log2_of(e.found.mantissa_re, e.found.exp2) - truth) - 1) <= 0.1);
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = 1e-4;
    wanted.samples = 5000;
    perm_opts opts = PERM_OPTS_INIT;
    opts.without = no_merging;
    const perm::Csr a = derangements(40);
    const perm_csr view = a.view();
    perm_estimated found = PERM_ESTIMATED_INIT;
    REQUIRE(perm_estimate(&view, &opts, &wanted, &found) == PERM_OK);
    CHECK(found.samples >= 5000);
    CHECK(found.samples < 10000);
    CHECK(found.epsilon > 1e-4); // what they are enough for
    CHECK(found.epsilon < 0.1);
}

TEST_CASE("few samples are drawn, however many the guarantee would take") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.without = no_merging;
    opts.device = "cpu";
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = 1e-6; // longer than computing it
    wanted.samples = 300;
    const perm::Csr a = derangements(30);
    const perm_csr view = a.view();
    perm_estimated found = PERM_ESTIMATED_INIT;
    REQUIRE(perm_estimate(&view, &opts, &wanted, &found) == PERM_OK);
    CHECK(found.exact == 0);
    CHECK(found.samples >= 300);
}

TEST_CASE("the same bits for one seed, with any number of threads") {
    const perm::Csr a = derangements(40);
    for (const char *method : {"nesting", "rejection"}) {
        const Estimate one = estimate(a, 0.02, 7, no_merging, 1, method),
                       many = estimate(a, 0.02, 7, no_merging, 4, method),
                       other = estimate(a, 0.02, 8, no_merging, 4, method);
        REQUIRE(one.status == PERM_OK);
        CHECK(one.found.mantissa_re == many.found.mantissa_re);
        CHECK(one.found.lower_mantissa == many.found.lower_mantissa);
        CHECK(one.found.upper_mantissa == many.found.upper_mantissa);
        CHECK(one.found.samples == many.found.samples);
        CHECK(one.found.mantissa_re != other.found.mantissa_re);
    }
}

TEST_CASE("blocks: what is quick is exact, and the rest shares what is allowed") {
    // Two blocks of ones of order 40, and 2 x 2 ones: (40!)^2 * 2^3.
    const perm::Csr a = build(86, 86, [](std::int64_t i, std::int64_t j) {
        const auto block = [](std::int64_t k) { return k < 40 ? 0 : k < 80 ? 1 : 2 + (k - 80) / 2; };
        return block(i) == block(j) ? 1.0 : 0.0;
    });
    const double truth = 2 * std::lgamma(41.0) / std::log(2.0) + 3;
    const Estimate e = estimate(a, 0.05, 3, "merge,periodic,structure,d2");
    REQUIRE(e.status == PERM_OK);
    CHECK(e.found.blocks == 5);
    CHECK(e.found.blocks_exact == 3);
    CHECK(std::fabs(std::exp2(log2_of(e.found.mantissa_re, e.found.exp2) - truth) - 1) <= 0.05);
}

TEST_CASE("zeros are zeros, at once") {
    const perm::Csr a =
        build(80, 80, [](std::int64_t i, std::int64_t j) { return i < 41 && j < 40 ? 0.0 : 1.0; });
    for (const double sign : {1.0, -1.0}) {
        const perm::Csr signed_one = build(80, 80, [&](std::int64_t i, std::int64_t j) {
            return (i < 41 && j < 40 ? 0 : 1) * (j == 70 ? sign : 1);
        });
        const Estimate e = estimate(signed_one, 0.1);
        REQUIRE(e.status == PERM_OK);
        CHECK(e.found.exact == 1);
        CHECK(e.found.mantissa_re == 0);
        CHECK(e.found.upper_mantissa == 0);
        CHECK(e.found.samples == 0);
    }
}

TEST_CASE("numbers far beyond a double") {
    const perm::Csr a =
        build(50, 50, [](std::int64_t i, std::int64_t) { return i % 2 == 0 ? 1e200 : 2e-150; });
    const double truth = (std::lgamma(51.0) + 25 * (std::log(1e200) + std::log(2e-150))) / std::log(2.0);
    const Estimate e = estimate(a, 0.1, 1, no_merging);
    REQUIRE(e.status == PERM_OK);
    CHECK(std::isinf(e.found.re));
    CHECK(std::fabs(std::exp2(log2_of(e.found.mantissa_re, e.found.exp2) - truth) - 1) <= 0.1);
}

TEST_CASE("signed and complex: an additive error that covers the truth") {
    // The permanent of ones but for a -1: n! - 2 (n - 1)!.
    const perm::Csr a =
        build(32, 32, [](std::int64_t i, std::int64_t j) { return i == 0 && j == 0 ? -1.0 : 1.0; });
    const Estimate e = estimate(a, 0.05, 1, no_merging);
    REQUIRE(e.status == PERM_OK);
    CHECK(e.found.additive == 1);
    CHECK(std::isinf(e.found.epsilon));
    const double truth = 30 * std::exp(std::lgamma(32.0));
    CHECK(std::fabs(e.found.re - truth) <=
          std::ldexp(e.found.error_mantissa, static_cast<int>(e.found.error_exp2)));
    CHECK(std::ldexp(e.found.lower_mantissa, static_cast<int>(e.found.lower_exp2)) <= truth);
    CHECK(std::ldexp(e.found.upper_mantissa, static_cast<int>(e.found.upper_exp2)) >= truth);
    // A small one that is told to be sampled is exact all the same: it is quick.
    const Estimate small = estimate(hadamard(8), 0.05);
    CHECK(small.found.exact == 1);
    CHECK(small.found.re == 384);
    CHECK(small.found.additive == 1);
}

TEST_CASE("signs of rows and columns are taken out, and no error is additive") {
    Random random(run::seed(0x7369676e));
    int negative = 0;
    for (int trial = 0; trial < run::cases(6); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = trial % 2 == 0 ? 32 : random.integer(3, 8);
        std::vector<double> sign(static_cast<std::size_t>(2 * n));
        double product = 1;
        for (double &x : sign) product *= x = random.chance(0.5) ? 1 : -1;
        if (trial == 0 && product > 0) {
            product = -product;
            sign[0] = -sign[0];
        }
        Dense x(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j < x.size(); ++j)
                x[i][j] = i != j && random.chance(0.3) ? 0 : 0.1 + random.uniform();
        Dense y = x;
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j < x.size(); ++j) y[i][j] *= sign[i] * sign[x.size() + j];
        const Estimate plain = estimate(from_dense(x), 0.1),
                       found = estimate(from_dense(y), 0.1, 1, nullptr, 0, "nesting");
        REQUIRE(plain.status == PERM_OK);
        REQUIRE(found.status == PERM_OK);
        CHECK(found.found.additive == 0);
        CHECK(found.found.exact == plain.found.exact);
        CHECK(found.found.exact == (n < 32));
        CHECK(found.found.epsilon == plain.found.epsilon);
        CHECK(found.found.re == product * plain.found.re);
        const bool turned = product < 0;
        CHECK(found.found.lower_mantissa ==
              (turned ? -plain.found.upper_mantissa : plain.found.lower_mantissa));
        CHECK(found.found.upper_mantissa ==
              (turned ? -plain.found.lower_mantissa : plain.found.upper_mantissa));
        CHECK(found.found.lower_exp2 == (turned ? plain.found.upper_exp2 : plain.found.lower_exp2));
        CHECK(found.found.samples == plain.found.samples);
        negative += turned;
    }
    CHECK(negative > 0);
    // What looks the same to a matching only: a cycle with a sign of its own.
    CHECK(estimate(hadamard(2), 0.1, 1, nullptr, 0, "nesting").status == PERM_BAD_MATRIX);
}

TEST_CASE("signed entries that no common power of two has room for") {
    // Blocks that do not fit their memory are sampled, however small.
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 1;
    const std::vector<std::vector<double>> matrices = {
        {1e200, -1e200, 1, 1, 1, 1e-180, -1, 1, 1e-180},               // 2e20, and smaller terms
        {1e200, -1e200, 2e200, 1e-200, 1e-200, 1e-200, 1, 2, -5},      // lines that would be 0
        {1e300, -1e300, 1e300, 1e-300, 1e-300, -1e-300, 1, 2.0, -5.0}, // and columns of one size
    };
    int compared = 0;
    for (const std::vector<double> &entries : matrices) {
        CAPTURE(entries[2]);
        const perm::Csr a = build(3, 3, [&](std::int64_t i, std::int64_t j) {
            return entries[static_cast<std::size_t>(3 * i + j)];
        });
        const perm_csr view = a.view();
        perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
        wanted.epsilon = 0.02;
        perm_estimated found = PERM_ESTIMATED_INIT;
        REQUIRE(perm_estimate(&view, &opts, &wanted, &found) == PERM_OK);
        const double truth = oracle::by_definition(a).get_d();
        const double error = std::ldexp(found.error_mantissa, static_cast<int>(found.error_exp2));
        CHECK(std::fabs(found.re - truth) <= error);
        CHECK(std::ldexp(found.lower_mantissa, static_cast<int>(found.lower_exp2)) <= truth);
        CHECK(std::ldexp(found.upper_mantissa, static_cast<int>(found.upper_exp2)) >= truth);
        CHECK(std::isfinite(error));
        compared += found.exact == 0;
    }
    CHECK(compared == 3);
    // Rows of any size change nothing but the exponent.
    Random random(run::seed(253));
    std::vector<double> entries;
    for (int k = 0; k < 3600; ++k)
        entries.push_back(std::ldexp(static_cast<double>(random.integer(-99, 99)), -6));
    const auto scaled = [&](int first, int second) {
        return build(60, 60, [&](std::int64_t i, std::int64_t j) {
            return std::ldexp(entries[static_cast<std::size_t>(60 * i + j)], i == 0   ? first
                                                                             : i == 1 ? second
                                                                                      : 0);
        });
    };
    const Estimate one = estimate(scaled(0, 0), 0.1), other = estimate(scaled(900, -900), 0.1);
    REQUIRE(one.status == PERM_OK);
    REQUIRE(other.status == PERM_OK);
    CHECK(std::isfinite(one.found.error_mantissa));
    CHECK(other.found.exact == 0);
    CHECK(log2_of(other.found.error_mantissa, other.found.error_exp2) ==
          doctest::Approx(log2_of(one.found.error_mantissa, one.found.error_exp2)).epsilon(1e-3));
}

TEST_CASE("what it does not do") {
    const perm::Csr a = constant(4, 1), negative = hadamard(4);
    perm_csr view = a.view();
    perm_estimated found = PERM_ESTIMATED_INIT;
    for (const double bad : {-0.1, 1.0, 2.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
        wanted.epsilon = bad;
        CHECK(perm_estimate(&view, nullptr, &wanted, &found) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).find("epsilon") != std::string::npos);
        wanted.epsilon = 0;
        wanted.delta = bad;
        CHECK(perm_estimate(&view, nullptr, &wanted, &found) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).find("delta") != std::string::npos);
    }
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.method = "guess";
    CHECK(perm_estimate(&view, nullptr, &wanted, &found) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("nesting, rejection") != std::string::npos);
    wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.samples = -1;
    CHECK(perm_estimate(&view, nullptr, &wanted, &found) == PERM_BAD_OPTION);
    wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.struct_size = 4;
    CHECK(perm_estimate(&view, nullptr, &wanted, &found) == PERM_BAD_ARGUMENT);
    CHECK(perm_estimate(&view, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_estimate(nullptr, nullptr, nullptr, &found) == PERM_BAD_ARGUMENT);
    found.struct_size = 8;
    CHECK(perm_estimate(&view, nullptr, nullptr, &found) == PERM_BAD_ARGUMENT);
    CHECK(estimate(negative, 0.1, 1, nullptr, 0, "nesting").status == PERM_BAD_MATRIX);
    CHECK(estimate(a, 0.1, 1, nullptr, 0, "nesting").status == PERM_OK);
}

TEST_CASE("limits: what would take too long is refused before it starts, and cancelled within") {
    Random random(run::seed(252));
    const perm::Csr a = permutation_plus(150, 5, Entries::ones, random.bits());
    perm_opts opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 1;
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    const perm_csr view = a.view();
    perm_estimated found = PERM_ESTIMATED_INIT;
    CHECK(perm_estimate(&view, &opts, &wanted, &found) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("perm(A) lies between ") != std::string::npos);
    opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    CHECK(perm_estimate(&view, &opts, &wanted, &found) == PERM_CANCELLED);
    double last = 0;
    opts = PERM_OPTS_INIT;
    opts.without = no_merging;
    opts.progress = [](double fraction, double, void *to) {
        CHECK(fraction >= *static_cast<double *>(to));
        *static_cast<double *>(to) = fraction;
    };
    opts.progress_user = &last;
    const perm::Csr ones = derangements(50);
    const perm_csr other = ones.view();
    CHECK(perm_estimate(&other, &opts, &wanted, &found) == PERM_OK);
    CHECK(last == 1);
}
