// Engine ryser in complex and double-double numbers: every answer within its bound of the exact permanent,
// and bounds that are of use.
#include "lib/base/threads.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/ryser/engine.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace libperm;
using oracle::Exact, oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x727977); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Compute = std::function<Outcome(const RyserPlan &, const ExactBlock &)>;

Compute in(Arithmetic arithmetic) {
    return [=](const RyserPlan &plan, const ExactBlock &block) {
        return outcome_of(run_ryser(plan, {block, arithmetic}));
    };
}

Outcome compute(const RyserPlan &plan, const ExactBlock &block, const Compute &run) {
    return run(plan, plan.transposed ? transposed(block) : block);
}

// Over subsets; with kinds, over counts, of A and of A^T, as well.
std::vector<RyserPlan> plans_for(const ExactBlock &block, const LineClasses &kinds) {
    const Pattern t = transpose(block.pattern).pattern;
    std::vector<RyserPlan> plans{plan_ryser(block.pattern, t)};
    if (!kinds.of_row.empty())
        for (const bool transposed : {false, true})
            plans.push_back(plan_ryser_sum(block.pattern, t, kinds, transposed));
    return plans;
}

Exact norm(const Gaussian &x) { return x.re * x.re + x.im * x.im; }

void check(const Outcome &outcome, const Gaussian &truth) {
    REQUIRE(outcome.wide.has_value());
    if (std::isfinite(outcome.error.mantissa)) CHECK(within(*outcome.wide, truth, exactly(outcome.error)));
    if (std::isfinite(outcome.rel_error_bound)) {
        const Exact bound(outcome.rel_error_bound);
        CHECK(norm({outcome.wide->re - truth.re, outcome.wide->im - truth.im}) <=
              bound * bound * norm(truth));
    }
    CHECK(outcome.exact == (outcome.error.mantissa == 0));
    const Exact size = exactly(outcome.value), square = norm(*outcome.wide); // to a few roundings up
    CHECK(size * size >= square);
    CHECK(size * size <= (1 + Exact(0x1p-47)) * square);
}

bool same(const Outcome &x, const Outcome &y) {
    return x.wide == y.wide && x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2;
}

Exact power(const Exact &x, std::int64_t n) {
    Exact result = 1;
    for (std::int64_t k = 0; k < n; ++k) result *= x;
    return result;
}
Exact factorial(std::int64_t n) { return Exact(mpz_class::factorial(static_cast<unsigned long>(n))); }

struct Case {
    std::string name;
    Compute run;
    bool real;       // no other entries
    double positive; // bounds of positive entries are below this
};
const std::vector<Case> &cases() {
    static const std::vector<Case> all{{"complex", in(Arithmetic::complex), false, 1e-11},
                                       {"dd", in(Arithmetic::dd), true, 1e-26},
                                       {"complex_dd", in(Arithmetic::complex_dd), false, 1e-25}};
    return all;
}

} // namespace

TEST_CASE("random matrices of every kind, over subsets and over counts") {
    Random random(test_seed());
    int compared = 0, finite = 0, exact = 0, counted = 0;
    for (int trial = 0; trial < run::cases(450); ++trial) {
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const std::int64_t n = trial % 50 == 0 ? 10 : random.integer(1, 7);
        CAPTURE(trial);
        CAPTURE(n);
        const bool equal_lines = random.chance(0.5);
        const GaussianMatrix a =
            equal_lines ? with_equal_lines(n, entries, random) : random_matrix(n, entries, random);
        const Gaussian truth = oracle::by_subsets(a);
        const ExactBlock block = random.chance(0.5) ? full_block(a) : sparse_block(a, random);
        for (const RyserPlan &plan : plans_for(block, kinds_of(a)))
            for (const Case &c : cases()) {
                if (c.real && !all_real(entries)) continue;
                CAPTURE(c.name);
                const Outcome outcome = compute(plan, block, c.run);
                check(outcome, truth);
                ++compared;
                counted += plan.counted;
                finite += std::isfinite(outcome.rel_error_bound);
                exact += outcome.exact && !is_zero(truth);
                if (entries == Complexes::positive && !is_zero(truth) && !equal_lines)
                    CHECK(outcome.rel_error_bound < c.positive);
            }
    }
    CHECK(compared > run::enough(2500));
    CHECK(finite > compared / 2);
    CHECK(exact > compared / 50);
    CHECK(counted > compared / 2);
}

TEST_CASE("bounds of random complex matrices are of use") {
    Random random(test_seed() + 1);
    for (const Complexes entries : {Complexes::complex, Complexes::imaginary, Complexes::rationals}) {
        const GaussianMatrix a = random_matrix(12, entries, random);
        const ExactBlock block = full_block(a);
        const Gaussian truth = oracle::by_subsets(a);
        const RyserPlan plan = plans_for(block, {}).front();
        const auto bound = [&](const Compute &run) {
            const Outcome outcome = compute(plan, block, run);
            check(outcome, truth);
            return outcome.rel_error_bound;
        };
        CHECK(bound(in(Arithmetic::complex)) < 1e-10);
        CHECK(bound(in(Arithmetic::complex_dd)) < 1e-24);
    }
}

TEST_CASE("all entries equal: n! a^n from n terms") {
    for (const std::int64_t n : {1, 2, 3, 17, 60})
        for (const double a : {1.0, -3.0, 0.1, 1e-300, 1e300}) {
            CAPTURE(n);
            CAPTURE(a);
            const GaussianMatrix real(at(n), std::vector<Gaussian>(at(n), Gaussian{a, 0}));
            const GaussianMatrix imaginary(at(n), std::vector<Gaussian>(at(n), Gaussian{0, a}));
            const Exact size = factorial(n) * power(Exact(a), n);
            const Gaussian turned[]{{size, 0}, {0, size}, {-size, 0}, {0, -size}};
            const RyserPlan plan = plans_for(full_block(real), kinds_of(real))[n > 1 ? 1 : 0];
            for (const Case &c : cases()) {
                CAPTURE(c.name);
                const Outcome outcome = compute(plan, full_block(real), c.run);
                check(outcome, turned[0]);
                CHECK(outcome.counts.subsets == static_cast<double>(n));
                // Terms are up to e^n / 2^n times what they add up to.
                if (n <= 17) CHECK(outcome.rel_error_bound < c.positive * 100);
                if (!c.real) check(compute(plan, full_block(imaginary), c.run), turned[n % 4]);
            }
        }
}

TEST_CASE("block-constant matrices of order 60: the sum over contingency tables") {
    Random random(test_seed() + 2);
    for (int trial = 0; trial < 10; ++trial) {
        const std::int64_t n = 60, r = random.integer(2, 58), c = random.integer(2, 58);
        Exact x[2][2];
        for (auto &row : x)
            for (Exact &entry : row)
                entry =
                    trial % 2 ? 1 - random.uniform() : random.uniform(0.5, 1) * std::pow(10.0, trial * 30);
        GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) a[at(i)][at(j)].im = x[i < r ? 0 : 1][j < c ? 0 : 1];
        Exact truth = 0;
        for (std::int64_t t = std::max<std::int64_t>(0, r + c - n); t <= std::min(r, c); ++t)
            truth += power(x[0][0], t) / factorial(t) * power(x[0][1], r - t) / factorial(r - t) *
                     power(x[1][0], c - t) / factorial(c - t) * power(x[1][1], n - r - c + t) /
                     factorial(n - r - c + t);
        truth *= factorial(r) * factorial(n - r) * factorial(c) * factorial(n - c);
        const auto plans = plans_for(full_block(a), kinds_of(a));
        for (const RyserPlan &plan : {plans[1], plans[2]})
            for (const Case &k : cases())
                if (!k.real) {
                    const Outcome outcome = compute(plan, full_block(a), k.run);
                    check(outcome, {truth, 0}); // i^60
                }
    }
}

TEST_CASE("whole numbers are exact while they fit") {
    Random random(test_seed() + 3);
    for (int trial = 0; trial < 30; ++trial) {
        const GaussianMatrix a = random_matrix(4, Complexes::integers, random);
        const Gaussian truth = oracle::by_subsets(a);
        for (const Compute &run : {in(Arithmetic::complex), in(Arithmetic::complex_dd)}) {
            const Outcome outcome = compute(plans_for(full_block(a), {}).front(), full_block(a), run);
            CHECK(outcome.exact);
            CHECK(*outcome.wide == truth);
        }
    }
}

TEST_CASE("whole numbers, from few bits to more than fit: never exact and wrong") {
    Random random(test_seed() + 7);
    for (const Case &c : cases()) {
        CAPTURE(c.name);
        int exact = 0, rounded = 0;
        for (int trial = 0; trial < 300; ++trial) {
            const std::int64_t most = std::int64_t{1} << random.integer(4, 52);
            GaussianMatrix a(3, std::vector<Gaussian>(3));
            for (auto &row : a)
                for (Gaussian &x : row) {
                    x.re = static_cast<long>(random.integer(-most, most));
                    if (!c.real) x.im = static_cast<long>(random.integer(-most, most));
                }
            const Outcome outcome = compute(plans_for(full_block(a), {}).front(), full_block(a), c.run);
            check(outcome, oracle::by_subsets(a));
            ++(outcome.exact ? exact : rounded);
        }
        CHECK(exact > run::enough(20));
        CHECK(rounded > 20);
    }
}

TEST_CASE("what a grid cuts off is in the bound, where nothing else rounds") {
    const Exact e = 1 / power(2, 600);
    const Gaussian one{1, 0}, minus{-1, 0};
    const GaussianMatrix a{{one, minus, one}, {one, minus, one}, {one, one, {e, 0}}};
    for (const Case &c : cases()) {
        CAPTURE(c.name);
        for (const RyserPlan &plan : plans_for(full_block(a), kinds_of(a))) {
            const Outcome outcome = compute(plan, full_block(a), c.run);
            check(outcome, {-2 * e, 0});
            CHECK(!outcome.exact);
        }
    }
}

TEST_CASE("rows and columns times 10^-150 .. 10^150 leave the digits alone") {
    Random random(test_seed() + 4);
    for (const Complexes entries : {Complexes::complex, Complexes::positive}) {
        GaussianMatrix a = random_matrix(10, entries, random);
        for (std::size_t k = 0; k < a.size(); ++k) {
            const Exact row(std::pow(10.0, random.uniform(-150, 150)));
            const Exact column(std::pow(10.0, random.uniform(-150, 150)));
            for (std::size_t l = 0; l < a.size(); ++l) {
                a[k][l] = {a[k][l].re * row, a[k][l].im * row};
                a[l][k] = {a[l][k].re * column, a[l][k].im * column};
            }
        }
        const Gaussian truth = oracle::by_subsets(a);
        for (const Case &c : cases()) {
            if (c.real && !all_real(entries)) continue;
            CAPTURE(c.name);
            const Outcome outcome = compute(plans_for(full_block(a), {}).front(), full_block(a), c.run);
            check(outcome, truth);
            CHECK(outcome.rel_error_bound < c.positive * 100);
        }
    }
}

TEST_CASE("entries beyond any double, and none that make up a matching") {
    Exact huge = power(Exact(10), 3000);
    const GaussianMatrix a{{{huge, 1}, {1 / huge, huge}}, {{1, 1 / huge}, {huge, 3}}};
    const GaussianMatrix none{{{1, 0}, {0, 1}, {3, 0}}, {{0, 0}, {0, 0}, {1, 1}}, {{0, 0}, {0, 0}, {2, 0}}};
    for (const Case &c : cases()) {
        if (c.real) continue;
        CAPTURE(c.name);
        const Outcome outcome = compute(plans_for(full_block(a), {}).front(), full_block(a), c.run);
        check(outcome, oracle::by_subsets(a));
        CHECK(outcome.rel_error_bound < 1e-12);
        const Outcome zero = compute(plans_for(full_block(none), {}).front(), full_block(none), c.run);
        CHECK(zero.exact);
        check(zero, {0, 0});
    }
}

TEST_CASE("the same bits whatever the number of threads") {
    Random random(test_seed() + 5);
    const GaussianMatrix plain = random_matrix(15, Complexes::complex, random);
    GaussianMatrix equal(30, std::vector<Gaussian>(30));
    for (std::size_t i = 0; i < 30; ++i)
        for (std::size_t j = 0; j < 30; ++j) equal[i][j] = plain[i / 2][j / 5];
    const auto equal_plans = plans_for(full_block(equal), kinds_of(equal));
    for (const Compute &run : {in(Arithmetic::complex), in(Arithmetic::complex_dd)}) {
        std::vector<Outcome> of_subsets, of_counts;
        for (const int threads : {1, 2, 3}) {
            with_threads(threads, [&] {
                of_subsets.push_back(
                    compute(plans_for(full_block(plain), {}).front(), full_block(plain), run));
                of_counts.push_back(compute(equal_plans[1], full_block(equal), run));
            });
        }
        CHECK(of_counts[0].counts.subsets == 5 * std::pow(6.0, 5));
        for (const std::size_t k : {1u, 2u}) {
            CHECK(same(of_subsets[0], of_subsets[k]));
            CHECK(same(of_counts[0], of_counts[k]));
        }
    }
}

TEST_CASE("cancelling ends a sum") {
    Random random(test_seed() + 6);
    const ExactBlock block = full_block(random_matrix(24, Complexes::complex, random));
    CallWatch watch;
    watch.stop_seconds = 1e-3;
    CurrentCall control(watch);
    call().begin(std::exp2(23), 100);
    CHECK_THROWS(in(Arithmetic::complex_dd)(plans_for(block, {}).front(), block));
}
