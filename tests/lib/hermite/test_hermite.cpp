// Engine hermite from inside: hafnians of lines that repeat in every kind of numbers against the definition,
// large ones against closed forms, far from a double's range, and with the same bits on any number of
// threads.
#include "lib/base/threads.hpp"
#include "lib/hermite/hermite.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/results.hpp"
#include "preprocess/repeated_lines.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/repeated_graph.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace libperm;
using oracle::Exact;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x6865726d); }

HermitePlan plan_of(const ExactBlock &block) { return plan_hermite(block.pattern, equal_lines(block)); }

Outcome compute(const HermitePlan &plan, const EngineInput &input) {
    return outcome_of(run_hermite(plan, input));
}

Block doubles_of(const ExactBlock &block) {
    Block doubles{block.pattern, {}};
    for (const Gaussian &x : block.values) doubles.values.push_back(tracked(x.re.get_d()));
    return doubles;
}

Gaussian value_of(const Outcome &x) { return x.wide ? *x.wide : Gaussian{exactly(x.value), 0}; }

void check(const Outcome &outcome, const Gaussian &truth) {
    REQUIRE(std::isfinite(outcome.error.mantissa));
    CHECK(within(value_of(outcome), truth, exactly(outcome.error)));
    if (outcome.exact) CHECK(value_of(outcome) == truth);
}

// Each way to compute it; whether the doubles were exact.
bool check_all_kinds(const ExactBlock &block, const Gaussian &truth, bool real, bool positive) {
    const HermitePlan plan = plan_of(block);
    std::vector<Arithmetic> wide{Arithmetic::complex, Arithmetic::complex_dd};
    if (real) wide.push_back(Arithmetic::dd);
    for (const Arithmetic arithmetic : wide) {
        CAPTURE(arithmetic_name(arithmetic));
        const Outcome outcome = compute(plan, {block, arithmetic});
        check(outcome, truth);
        if (positive) CHECK(outcome.rel_error_bound < (is_dd(arithmetic) ? 1e-25 : 1e-12));
    }
    if (!real ||
        !std::ranges::all_of(block.values, [](const Gaussian &x) { return Exact(x.re.get_d()) == x.re; }))
        return false;
    Block doubles = doubles_of(block);
    const Outcome outcome = compute(plan, doubles);
    check(outcome, truth);
    if (positive) CHECK(outcome.rel_error_bound < 1e-12);
    return outcome.exact;
}

std::vector<std::int64_t> draw_times(Random &random, std::int64_t most) {
    std::vector<std::int64_t> times;
    for (std::int64_t left = random.integer(1, most); left > 0; left -= times.back())
        times.push_back(random.integer(1, std::min<std::int64_t>(left, random.chance(0.3) ? 1 : 6)));
    return times;
}

mpz_class double_factorial(std::int64_t n) { // n!!
    mpz_class product = 1;
    for (; n > 1; n -= 2) product *= static_cast<unsigned long>(n);
    return product;
}

// One kind of m lines, of entry a and loop l.
Exact one_kind(std::int64_t m, const Exact &a, const Exact &l) {
    Exact before = 1, now = l;
    for (std::int64_t n = 2; n <= m; ++n) {
        const Exact next = l * now + Exact(static_cast<unsigned long>(n - 1)) * a * before;
        before = now;
        now = next;
    }
    return m == 0 ? Exact(1) : now;
}

RepeatedGraph with_times(const std::vector<std::int64_t> &times, Random &random) {
    return repeated_graph(times, 1, true, random, [&]() -> Gaussian {
        return {mpq_class(random.uniform(0.1, 1)), 0};
    });
}

} // namespace

TEST_CASE("random graphs of kinds agree with the sum over all matchings in every kind of numbers") {
    Random random(test_seed());
    int compared = 0, nonzero = 0, exact = 0, repeated = 0;
    for (int trial = 0; trial < run::cases(500); ++trial) {
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        CAPTURE(trial);
        const RepeatedGraph graph =
            repeated_graph(draw_times(random, 12), random.uniform(0.4, 1), random.chance(0.5), random,
                           [&] { return random_complex(entries, random); });
        const ExactBlock block = block_of(graph);
        if (block.values.empty()) continue;
        const Gaussian truth = graph.hafnian();
        const bool positive = entries == Complexes::positive && !is_zero(truth);
        exact += check_all_kinds(block, truth, all_real(entries), positive);
        ++compared;
        nonzero += !is_zero(truth);
        repeated += plan_of(block).size() < graph.lines();
    }
    CHECK(compared > run::enough(400));
    CHECK(nonzero > run::enough(250));
    CHECK(repeated > run::enough(250));
}

TEST_CASE("whole numbers are exact in doubles, and modulo primes") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const RepeatedGraph graph = repeated_graph(draw_times(random, 12), random.uniform(0.4, 1),
                                                   random.chance(0.5), random, [&]() -> Gaussian {
                                                       return {mpq_class(random.integer(-4, 5)), 0};
                                                   });
        const ExactBlock block = block_of(graph);
        if (block.values.empty()) continue;
        const Gaussian truth = graph.hafnian();
        const HermitePlan plan = plan_of(block);
        const Outcome outcome = compute(plan, doubles_of(block));
        CHECK(outcome.exact);
        check(outcome, truth);
        const IntegerBlock integers = integer_block(block);
        for (const std::size_t primes : {1, 2, 5}) {
            const Residues residues =
                residues_of(integers.pattern, integers.re, integers.im, primes_below(62, primes, false));
            const auto found = std::get<ResidueVector>(run_hermite(plan, residues).value);
            REQUIRE(found.size() == primes);
            for (std::size_t k = 0; k < primes; ++k) {
                mpz_class expected = truth.re.get_num() % mpz_class(residues.primes[k]);
                if (expected < 0) expected += mpz_class(residues.primes[k]);
                CHECK(mpz_class(found[k]) == expected);
            }
        }
        ++compared;
    }
    CHECK(compared > run::enough(150));
}

TEST_CASE("one kind of many lines, and two that meet each other alone") {
    Random random(test_seed() + 2);
    for (const std::int64_t m : {2, 3, 10, 51, 170, 400, 1001}) {
        CAPTURE(m);
        const bool loops = m % 2 == 1 || m == 400;
        const Exact a(random.uniform(0.5, 2)), l(loops ? random.uniform(0.5, 2) : 0);
        RepeatedGraph graph = repeated_graph({m}, 1, loops, random, [&]() -> Gaussian { return {a, 0}; });
        (*graph.matrix.row_weights)[0] = {l, 0};
        const ExactBlock block = block_of(graph);
        const Exact truth = one_kind(m, a, l);
        if (!loops) {
            Exact power = 1;
            for (std::int64_t k = 0; k < m / 2; ++k) power *= a;
            CHECK(truth == double_factorial(m - 1) * power);
        }
        const HermitePlan plan = plan_of(block);
        REQUIRE(plan.size() == 1);
        for (const Outcome &outcome :
             {compute(plan, doubles_of(block)), compute(plan, {block, Arithmetic::dd})}) {
            check(outcome, {truth, 0});
            CHECK(outcome.rel_error_bound < 1e-11);
        }
        if (m > 200) continue;
        RepeatedGraph two = repeated_graph({m, m}, 0, false, random, [] { return Gaussian(); });
        two.matrix.entries[0][1] = two.matrix.entries[1][0] = {1, 0}; // m! matchings
        const ExactBlock of_two = block_of(two);
        const Outcome outcome = compute(plan_of(of_two), doubles_of(of_two));
        check(outcome, {Exact(mpz_class::factorial(static_cast<unsigned long>(m))), 0});
    }
}

TEST_CASE("entries far apart: numbers that leave the range of doubles") {
    Random random(test_seed() + 3);
    int compared = 0;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        CAPTURE(trial);
        const int most = trial % 2 == 0 ? 900 : 60;
        const RepeatedGraph graph = repeated_graph(
            draw_times(random, 12), random.uniform(0.5, 1), random.chance(0.5), random, [&]() -> Gaussian {
                mpq_class x(random.uniform(random.chance(0.5) ? -1 : 0.1, 1));
                const std::int64_t by = random.integer(-most, most);
                return {by < 0 ? mpq_class(x >> static_cast<unsigned long>(-by))
                               : mpq_class(x << static_cast<unsigned long>(by)),
                        0};
            });
        const ExactBlock block = block_of(graph);
        if (block.values.empty()) continue;
        const Gaussian truth = graph.hafnian();
        check_all_kinds(block, truth, true, false);
        Block doubles = doubles_of(block);
        if (is_zero(truth)) continue;
        const std::int64_t exp2 = scale(doubles);
        Outcome outcome = compute(plan_of(block), doubles);
        for (Scaled *x : {&outcome.value, &outcome.error})
            if (x->mantissa != 0) x->exp2 -= exp2;
        check(outcome, truth);
        ++compared;
    }
    CHECK(compared > run::enough(30));
}

TEST_CASE("the same bits on any number of threads") {
    Random random(test_seed() + 4);
    const auto long_kinds =
        run::sanitized ? std::vector<std::int64_t>{5, 5, 5, 5} : std::vector<std::int64_t>{9, 9, 9, 9, 4};
    for (const std::vector<std::int64_t> &times : {long_kinds, std::vector<std::int64_t>(14, 1)}) {
        const ExactBlock block = block_of(with_times(times, random));
        const HermitePlan plan = plan_of(block);
        CHECK(plan.size() == times.size());
        const Block doubles = doubles_of(block);
        std::vector<Outcome> outcomes;
        for (int threads = 1; threads <= 4; ++threads)
            with_threads(threads, [&] {
                outcomes.push_back(compute(plan, doubles));
                outcomes.push_back(compute(plan, {block, Arithmetic::complex_dd}));
            });
        for (std::size_t k = 2; k < outcomes.size(); ++k) {
            CHECK(value_of(outcomes[k]) == value_of(outcomes[k % 2]));
            CHECK(outcomes[k].error.mantissa == outcomes[k % 2].error.mantissa);
            CHECK(outcomes[k].error.exp2 == outcomes[k % 2].error.exp2);
        }
        CHECK(within(value_of(outcomes[0]), value_of(outcomes[1]), exactly(outcomes[0].error) * 2));
    }
}

TEST_CASE("what is predicted is what is done") {
    Random random(test_seed() + 5);
    for (int trial = 0; trial < run::cases(60); ++trial) {
        CAPTURE(trial);
        const ExactBlock block = block_of(with_times(draw_times(random, 24), random));
        const HermitePlan plan = plan_of(block);
        const EngineResult result = run_hermite(plan, doubles_of(block));
        CHECK(result.counts.operations == hermite_operations(plan));
        CHECK(result.counts.peak_states == hermite_tables(plan) * hermite_states(plan.kinds));
        CHECK(std::ranges::is_sorted(
            plan.kinds, [](const EqualLines &x, const EqualLines &y) { return x.count > y.count; }));
    }
}

TEST_CASE("straight from a graph's numbers, where doubles lose them") {
    // Hermite's polynomials: loops, and pairs of -1/4, cancel.
    for (const std::complex<double> loop : {std::complex<double>(7, 0), std::complex<double>(3, 6)})
        for (const std::int32_t lines : {40, 300}) {
            CAPTURE(loop.imag());
            CAPTURE(lines);
            const DoublesGraph graph{{2, 2, {0, 2, 3}, {0, 1, 1}, true}, {loop, -0.25, loop}};
            const HermitePlan plan = plan_hermite(graph.pattern, std::vector<EqualLines>{{0, lines}});
            Gaussian before{0, 0}, truth{1, 0};
            for (std::int32_t k = 0; k < lines; ++k) {
                const Gaussian next =
                    Gaussian{loop.real(), loop.imag()} * truth + Gaussian{mpq_class(-k, 4), 0} * before;
                before = std::exchange(truth, next);
            }
            const DoublesHafnian found = hafnian_of_doubles(plan, graph);
            CHECK(within({exactly(found.re), exactly(found.im)}, truth, exactly(found.error)));
        }
}
