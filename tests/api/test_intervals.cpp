// perm_bounds: rigorous for every matrix, exact where that takes no time, and in the text of every refusal.
#include "tests/support/adversarial.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/known.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shared_matrix.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

perm_interval bounds_of(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm_interval bounds = PERM_INTERVAL_INIT;
    const perm_status status = perm_bounds(&a, &opts, &bounds);
    CHECK_MESSAGE(status == PERM_OK, perm_last_error());
    return bounds;
}

mpq_class lower_of(const perm_interval &b) {
    return libperm::shifted(mpq_class(b.lower_mantissa), b.lower_exp2);
}
mpq_class upper_of(const perm_interval &b) {
    return libperm::shifted(mpq_class(b.upper_mantissa), b.upper_exp2);
}

void check_holds(const perm_interval &b, const mpq_class &truth) { // >= 0
    CHECK_MESSAGE(lower_of(b) <= truth,
                  b.lower_method << ": " << b.lower_mantissa << " * 2^" << b.lower_exp2);
    CHECK_MESSAGE(upper_of(b) >= truth,
                  b.upper_method << ": " << b.upper_mantissa << " * 2^" << b.upper_exp2);
    CHECK((b.exact == 1) == (lower_of(b) == upper_of(b)));
    CHECK(b.blocks_exact <= b.blocks);
    if (truth == 0) CHECK((b.exact == 1 || b.of_magnitude == 1));
}

// In decimal digits.
double gap_of(const perm_interval &b) {
    return std::log10(b.upper_mantissa / b.lower_mantissa) +
           static_cast<double>(b.upper_exp2 - b.lower_exp2) * std::log10(2.0);
}

// Too wide for any engine, and no line is light: nothing of it can be computed in a moment.
perm::Csr wide_matrix(Entries entries, std::uint64_t seed) { return erdos_renyi(60, 0.4, entries, seed); }

std::string refusal_of(const perm::Csr &a, perm_status expected, const perm_opts &opts = PERM_OPTS_INIT) {
    CHECK(status_of(a.view(), opts) == expected);
    return perm_last_error();
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("random matrices, their blocks exact") {
    Random random(run::seed(2511));
    int compared = 0, zero = 0;
    for (int i = 0; i < run::cases(500); ++i) {
        const perm::Csr a = random_matrix(random.integer(0, 8), random);
        CAPTURE(describe(a));
        const mpq_class truth = abs(oracle::by_frontier(a));
        const perm_interval b = bounds_of(a.view());
        check_holds(b, truth);
        CHECK(b.blocks_exact == b.blocks);
        zero += b.exact == 1 && truth == 0;
        ++compared;
    }
    CHECK(compared >= run::enough(500));
    CHECK(zero > run::enough(15));
}

TEST_CASE("matrices with blocks that are too large, and others") {
    Random random(run::seed(2512));
    for (int i = 0; i < run::cases(20); ++i) {
        const double x = std::pow(10.0, random.uniform(-100, 100));
        const perm::Csr ones = constant(40, x), small = dense_block(6, Entries::counts, random);
        mpq_class truth = oracle::by_ryser(small) * factorial(40);
        for (int k = 0; k < 40; ++k) truth *= mpq_class(x);
        perm::Csr a = block_sum(ones, small);
        // All ones are of one kind, and so exact at once; one entry less is not.
        check_holds(bounds_of(a.view()), truth);
        std::vector<double> first(46, 0.0);
        for (std::size_t j = 1; j < 40; ++j) first[j] = x;
        a = with_row(a, 0, first);
        const perm_interval b = bounds_of(permute(a, random.permutation(46), random.permutation(46)).view());
        check_holds(b, truth / 40 * 39);
        CHECK(gap_of(b) < 2);
    }
}

TEST_CASE("known permanents of large matrices" * doctest::skip(run::sanitized)) {
    for (const Known &known : known_permanents()) {
        CAPTURE(known.name);
        check_holds(bounds_of(known.matrix.view()), abs(mpq_class(known.permanent)));
    }
    for (const std::int64_t k : {5, 30}) { // beyond the order that is planned in no time
        const perm_interval b = bounds_of(aztec_diamond(k).view());
        check_holds(b, libperm::shifted(1, k * (k + 1) / 2));
        CHECK(b.lower_mantissa > 0);
    }
    const WeightedGrid grid = weighted_grid(20, 20, Entries::nonnegative, 7);
    check_holds(bounds_of(grid.weights.view()), abs(oracle::determinant(grid.kasteleyn)));
}

TEST_CASE("signed and complex: of the absolute value") {
    Random random(run::seed(2513));
    int compared = 0;
    for (int i = 0; i < run::cases(150); ++i) {
        const oracle::GaussianMatrix a = adversarial(6, random);
        const Given input = given(a, As::complex);
        CAPTURE(text_of(a));
        const oracle::Gaussian truth = oracle::by_subsets(a);
        const perm_interval b = bounds_of(input.csr);
        const mpq_class square = truth.re * truth.re + truth.im * truth.im;
        CHECK(lower_of(b) * lower_of(b) <= square);
        CHECK(upper_of(b) * upper_of(b) >= square);
        ++compared;
    }
    CHECK(compared >= run::enough(150));
    const perm_interval b = bounds_of(wide_matrix(Entries::real, 3).view());
    CHECK(b.of_magnitude == 1);
    CHECK(b.lower_mantissa == 0);
    CHECK(std::string(b.lower_method) == "none");
    // Signs of rows and columns alone are no loss.
    perm::Csr a = wide_matrix(Entries::nonnegative, 4);
    const perm_interval plain = bounds_of(a.view());
    a = scale(a, std::vector<double>(60, -1.0), [] {
        std::vector<double> signs(60, 1.0);
        for (std::size_t j = 0; j < 60; j += 3) signs[j] = -1;
        return signs;
    }());
    const perm_interval turned = bounds_of(a.view());
    CHECK(turned.of_magnitude == 1);
    CHECK(lower_of(turned) == lower_of(plain));
    CHECK(upper_of(turned) == upper_of(plain));
}

TEST_CASE("lines that are repeated, left out, or may stay unmatched") {
    Random random(run::seed(2514));
    int compared = 0;
    for (int i = 0; i < run::cases(200); ++i) {
        const MatchingMatrix a = random_matchings(random, [](Random &r) {
            return oracle::Gaussian{mpq_class(1 - r.uniform()), 0};
        });
        const MatchingInput input(a, PERM_VALUE_F64, random);
        check_holds(bounds_of(input.csr()), abs(oracle::over_matchings(a).re));
        ++compared;
    }
    CHECK(compared >= run::enough(200));
}

TEST_CASE("the same bits on any number of threads") {
    const perm::Csr a = wide_matrix(Entries::nonnegative, 5);
    perm_opts one = PERM_OPTS_INIT, four = PERM_OPTS_INIT;
    one.threads = 1;
    four.threads = 4;
    const perm_interval x = bounds_of(a.view(), one), y = bounds_of(a.view(), four);
    CHECK(lower_of(x) == lower_of(y));
    CHECK(upper_of(x) == upper_of(y));
}

TEST_CASE("a refusal tells the interval" * doctest::skip(run::sanitized)) {
    const perm::Csr a = wide_matrix(Entries::nonnegative, 6);
    std::string text = refusal_of(a, PERM_REFUSED_TIME);
    CHECK_MESSAGE(has(text, "perm(A) lies between "), text);
    CHECK(has(text, " and "));
    CHECK(has(text, "limit")); // and what was said before
    text = refusal_of(wide_matrix(Entries::real, 6), PERM_REFUSED_TIME);
    CHECK_MESSAGE(has(text, "|perm(A)| is at most "), text);
    perm_opts frontier = with_engine("frontier");
    frontier.memory_limit_bytes = 1 << 20;
    text = refusal_of(a, PERM_REFUSED_MEMORY, frontier);
    CHECK_MESSAGE(has(text, "perm(A) lies between "), text);
    // Of a plan that is executed.
    const perm::Plan plan(a);
    CHECK_THROWS_WITH_AS(plan.execute(a.values.data()), doctest::Contains("perm(A) lies between "),
                         perm::Error);
    std::vector<double> derivatives(a.values.size());
    CHECK_THROWS_WITH_AS(perm::Task::plan(plan, a.values).run_shard(0),
                         doctest::Contains("perm(A) lies between "), perm::Error);
    CHECK_THROWS_WITH_AS(plan.gradient(a.values.data(), derivatives.data()),
                         doctest::Contains("perm(A) lies between "), perm::Error);
    // What is refused for another reason says nothing of it.
    perm_opts bad = PERM_OPTS_INIT;
    bad.engine = "nothing";
    CHECK(!has(refusal_of(a, PERM_BAD_OPTION, bad), "lies between"));
}

TEST_CASE("bad input, callbacks") {
    const perm::Csr a = wide_matrix(Entries::nonnegative, 8);
    const perm_csr csr = a.view();
    perm_interval b = PERM_INTERVAL_INIT;
    CHECK(perm_bounds(&csr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_bounds(nullptr, nullptr, &b) == PERM_BAD_ARGUMENT);
    b.struct_size = 8;
    CHECK(perm_bounds(&csr, nullptr, &b) == PERM_BAD_ARGUMENT);
    b = PERM_INTERVAL_INIT;
    perm::Csr broken = a;
    broken.values[5] = std::numeric_limits<double>::quiet_NaN();
    const perm_csr with_nan = broken.view();
    CHECK(perm_bounds(&with_nan, nullptr, &b) == PERM_BAD_MATRIX);
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    CHECK(perm_bounds(&csr, &opts, &b) == PERM_CANCELLED);
    opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 1e6;
    CHECK(perm_bounds(&csr, &opts, &b) == PERM_OK);
    CHECK(b.seconds_total > 0);
    CHECK(b.blocks == 1);
    CHECK(b.blocks_exact == 0);
}

TEST_CASE("matrices of the literature") {
    // Their permanents: perm compute, exact or within the digits here.
    const struct {
        const char *name;
        double permanent;
    } known[] = {{"bcspwr02", 17339123388.0}, {"mycielskian6", 1.38172410548268697e18}};
    for (const auto &k : known) {
        perm::Csr a;
        if (!shared_matrix(k.name, a)) continue;
        CAPTURE(k.name);
        const perm_interval b = bounds_of(a.view());
        CHECK(lower_of(b) <= mpq_class(k.permanent * (1 + 1e-14)));
        CHECK(upper_of(b) >= mpq_class(k.permanent * (1 - 1e-14)));
    }
}

TEST_CASE("a time limit stops them, and none does not") {
    const perm::Csr a = build(300, 300, [](std::int64_t i, std::int64_t j) {
        return std::abs(i - j) < 20 ? 1 + static_cast<double>((7 * i + 3 * j) % 11) : 0;
    });
    perm_opts opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 1e-9;
    perm_interval b = PERM_INTERVAL_INIT;
    const perm_csr csr = a.view();
    CHECK(perm_bounds(&csr, &opts, &b) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("time_limit_seconds") != std::string::npos);
    CHECK((b.lower_mantissa == 0 && b.upper_mantissa == 0));
    opts.time_limit_seconds = 0;
    CHECK(bounds_of(csr, opts).upper_mantissa > 0);
}
