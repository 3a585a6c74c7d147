// Engine ryser from inside: sums over subsets and over counts, entries that come with errors, and the bound
// of a permanent that these need.
#include "bench/families.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/ryser/engine.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_bound.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gmpxx.h>

using namespace libperm;
using oracle::Exact;
namespace families = perm::families;

namespace {

using Numbers = std::vector<std::vector<Exact>>;

std::uint64_t test_seed() { return run::seed(0x727973); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Exact gamma_of(double roundings) {
    const Exact ku = times_power(Exact(roundings), -53);
    return ku / (1 - ku);
}

Exact factorial(std::int64_t n) { return Exact(mpz_class::factorial(static_cast<unsigned long>(n))); }

Exact power(const Exact &x, std::int64_t exponent) {
    Exact result = 1;
    for (std::int64_t k = 0; k < exponent; ++k) result *= x;
    return result;
}

// Row by row over sets of columns.
Exact permanent(const Numbers &a) {
    std::vector<Exact> ways(std::size_t{1} << a.size());
    ways[0] = 1;
    for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
        const auto i = at(std::popcount(set));
        for (std::size_t j = 0; j < a.size(); ++j)
            if (!(set >> j & 1)) ways[set | std::size_t{1} << j] += ways[set] * a[i][j];
    }
    return ways.back();
}

Block block_of(const perm::Csr &matrix) {
    const perm_csr view = matrix.view();
    const InputPattern input = read_pattern(&view);
    Block block{input.pattern, {}};
    for (const double x : read_values(input, view.values).real) block.values.push_back(tracked(x));
    return block;
}

Numbers numbers_of(const Block &block, const std::function<Exact(const Tracked &)> &number) {
    Numbers a(at(block.n()), std::vector<Exact>(at(block.n())));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i)) a[at(i)][at(j)] = number(block.values[k++]);
    return a;
}

Exact value_of(const Tracked &x) { return times_power(Exact(x.value), x.exp2); }
Exact magnitude_of(const Tracked &x) { return times_power(Exact(x.magnitude), x.exp2); }

std::vector<std::int32_t> lowest_equal(const Numbers &rows) {
    std::vector<std::int32_t> lowest;
    for (const auto &row : rows)
        lowest.push_back(static_cast<std::int32_t>(std::find(rows.begin(), rows.end(), row) - rows.begin()));
    return lowest;
}

LineClasses kinds_of(const Block &block) {
    return {lowest_equal(numbers_of(block, value_of)), lowest_equal(numbers_of(transposed(block), value_of))};
}

Outcome compute(const RyserPlan &plan, const Block &block) {
    return outcome_of(run_ryser(plan, plan.transposed ? transposed(block) : block));
}

// Both sums, of A and of A^T, and what the planner would choose.
std::vector<RyserPlan> plans_for(const Block &block, const LineClasses &kinds) {
    const Pattern t = transpose(block.pattern).pattern;
    return {plan_ryser(block.pattern, t), plan_ryser_sum(block.pattern, t, kinds, false),
            plan_ryser_sum(block.pattern, t, kinds, true), plan_ryser(block.pattern, t, kinds)};
}

RyserPlan plan_for(const Block &block) {
    return plan_ryser(block.pattern, transpose(block.pattern).pattern, kinds_of(block));
}

void check(const Outcome &outcome, const Exact &truth) {
    const Exact error = abs(exactly(outcome.value) - truth);
    if (std::isfinite(outcome.error.mantissa)) CHECK(error <= exactly(outcome.error));
    if (std::isfinite(outcome.rel_error_bound)) CHECK(error <= Exact(outcome.rel_error_bound) * abs(truth));
    if (outcome.exact) CHECK(error == 0);
    CHECK(outcome.exact == (outcome.rel_error_bound == 0));
}

bool same_bits(const Outcome &x, const Outcome &y) {
    return x.value.mantissa == y.value.mantissa && x.value.exp2 == y.value.exp2 &&
           x.error.mantissa == y.error.mantissa && x.error.exp2 == y.error.exp2 &&
           x.rel_error_bound == y.rel_error_bound && x.exact == y.exact;
}

// A few kinds of rows and columns, each repeated as often as chance has it, in any order.
perm::Csr any_with_repeated_lines(std::int64_t n, families::Random &random) {
    const auto entries = static_cast<families::Entries>(random.integer(0, 4));
    const double density = random.uniform(0.5, 1);
    const int spread = random.chance(0.3) ? static_cast<int>(random.integer(1, 200)) : 0;
    const std::int64_t row_kinds = random.integer(1, n), column_kinds = random.integer(1, n);
    families::Dense kind(at(row_kinds), std::vector<double>(at(column_kinds)));
    for (auto &row : kind)
        for (double &x : row) {
            x = random.chance(density) ? families::random_entry(entries, random) : 0;
            x = std::ldexp(x, static_cast<int>(random.integer(-spread, spread)));
        }
    families::Dense rows(at(n), std::vector<double>(at(n)));
    std::vector<std::size_t> column(at(n));
    for (auto &j : column) j = at(random.integer(0, column_kinds - 1));
    for (auto &row : rows) {
        const auto i = at(random.integer(0, row_kinds - 1));
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = kind[i][column[j]];
    }
    return families::from_dense(rows);
}

Block with_repeated_lines(std::int64_t n, families::Random &random) {
    for (;;) {
        Block block = block_of(any_with_repeated_lines(n, random));
        if (maximum_matching(block.pattern).size == n) return block;
    }
}

// With a diagonal, so that there is a perfect matching.
Block all_different(std::int64_t n, families::Random &random) {
    return block_of(families::permutation_plus(n, n, families::Entries::real, random.bits()));
}

} // namespace

TEST_CASE("equal entries: a^n n! from n terms, to the last digits") {
    for (const double a : {1.0, 0.91, -3.0, 1e-200, 0.1}) {
        for (const std::int64_t n : {2, 3, 8, 17, 40, 62, 90, 130}) {
            CAPTURE(a);
            CAPTURE(n);
            const Block block = block_of(families::constant(n, a));
            const RyserPlan plan = plan_for(block);
            const Exact truth = power(Exact(a), n) * factorial(n);
            if (n >= 17) {
                CHECK(plan.terms == static_cast<double>(n));
                const Outcome outcome = compute(plan, block);
                CHECK(outcome.counts.subsets == plan.terms);
                if (n <= 90) CHECK(outcome.rel_error_bound < 1e-12);
            }
            for (const RyserPlan &p : plans_for(block, kinds_of(block)))
                if (p.terms < 1e5) check(compute(p, block), truth);
        }
    }
    const Block ones = block_of(families::constant(18, 1)); // 18! has 53 bits, less its factors of two
    const Outcome outcome = compute(plan_for(ones), ones);
    CHECK(outcome.exact);
    CHECK(exactly(outcome.value) == factorial(18));
}

TEST_CASE("block-constant matrices: the sum over contingency tables") {
    families::Random random(test_seed());
    int precise = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(2, 40), r = random.integer(1, n - 1),
                           c = random.integer(1, n - 1);
        families::Dense value(2, std::vector<double>(2));
        for (auto &row : value)
            for (double &x : row)
                x = families::random_entry(static_cast<families::Entries>(trial % 5), random);
        const Block block = block_of(families::block_constant(value, {r, n - r}, {c, n - c}));
        Exact truth = 0;
        for (std::int64_t t = std::max<std::int64_t>(0, r + c - n); t <= std::min(r, c); ++t)
            truth += power(Exact(value[0][0]), t) / factorial(t) * power(Exact(value[0][1]), r - t) /
                     factorial(r - t) * power(Exact(value[1][0]), c - t) / factorial(c - t) *
                     power(Exact(value[1][1]), n - r - c + t) / factorial(n - r - c + t);
        truth *= factorial(r) * factorial(n - r) * factorial(c) * factorial(n - c);
        for (const RyserPlan &plan : plans_for(block, kinds_of(block))) {
            if (plan.terms > 1e5) continue;
            const Outcome outcome = compute(plan, block);
            check(outcome, truth);
            if (plan.counted) precise += outcome.rel_error_bound < 1e-12;
        }
    }
    CHECK(precise > run::enough(60));
}

TEST_CASE("matrices with repeated lines, against the oracle: both sums, of A and of A^T") {
    families::Random random(test_seed() + 1);
    int compared = 0, exact = 0, inexact = 0, counted = 0, agreed = 0;
    for (int trial = 0; trial < run::cases(600); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 9);
        const Block block = with_repeated_lines(n, random);
        const Exact truth = permanent(numbers_of(block, value_of));
        std::vector<Outcome> outcomes;
        for (const RyserPlan &plan : plans_for(block, kinds_of(block))) {
            const Outcome outcome = compute(plan, block);
            check(outcome, truth);
            CHECK(outcome.counts.subsets == plan.terms);
            ++compared;
            counted += plan.counted;
            ++(outcome.exact ? exact : inexact);
            outcomes.push_back(outcome);
        }
        for (const Outcome &x : outcomes)
            if (std::isfinite(x.error.mantissa) && std::isfinite(outcomes[0].error.mantissa)) {
                CHECK(abs(exactly(x.value) - exactly(outcomes[0].value)) <=
                      exactly(x.error) + exactly(outcomes[0].error));
                ++agreed;
            }
    }
    CHECK(compared >= run::enough(2400));
    CHECK(agreed >= run::enough(2000));
    CHECK(counted >= run::enough(1200));
    CHECK(exact > run::enough(400));
    CHECK(inexact > run::enough(400));
}

TEST_CASE("nothing repeats: the sum over subsets; something does: the fewest terms") {
    const Block plain = block_of(families::counting(6)); // rows 1 .. 6, 7 .. 12, ...
    CHECK(!plan_for(plain).counted);
    CHECK(plan_for(plain).terms == 32);
    // Kinds of 2, 3 and 4 columns; one of the least kind is left out.
    const Block three = block_of(families::block_constant({{1, 2, 3}, {4, 5, 7}}, {4, 5}, {2, 3, 4}));
    const Pattern t = transpose(three.pattern).pattern;
    CHECK(plan_ryser_sum(three.pattern, t, kinds_of(three), false).terms == 2 * 4 * 5);
    CHECK(plan_ryser_sum(three.pattern, t, kinds_of(three), true).terms == 4 * 6);
    CHECK(plan_ryser(three.pattern, t, kinds_of(three)).transposed);
    // Repeated rows alone: of A^T.
    const Block rows = block_of(families::build(
        30, 30, [](std::int64_t i, std::int64_t j) { return 1.0 + static_cast<double>(i / 10 * j); }));
    CHECK(plan_for(rows).transposed);
    CHECK(plan_for(rows).terms == 10 * 11 * 11);
    // More terms than can be counted are not cut off.
    const Block many = block_of(families::tridiagonal(200, 1, 1, 1));
    CHECK(plan_for(many).terms > ryser_most_subsets);
}

TEST_CASE("entries that come with errors: the result is within its bound of what they stand for") {
    families::Random random(test_seed() + 2);
    int compared = 0, beyond = 0, zero_values = 0;
    for (int trial = 0; trial < run::cases(300); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 7);
        Block block = trial % 2 ? with_repeated_lines(n, random) : all_different(n, random);
        const LineClasses kinds = kinds_of(block);
        const std::int32_t roundings = static_cast<std::int32_t>(1) << random.integer(0, 30);
        const int spread = trial % 5 == 0 ? 900 : 3;
        // The same for all entries in a kind's rows and columns, else lines were not equal.
        const auto changed = [&](Tracked x, std::int32_t row, std::int32_t column) {
            families::Random entry(test_seed() +
                                   at(trial * 100 + kinds.of_row[at(row)] * 10 + kinds.of_col[at(column)]));
            x.roundings = entry.chance(0.7) ? roundings : 0;
            if (entry.chance(0.2)) { // something cancelled
                x.value =
                    entry.chance(0.3) ? 0 : std::ldexp(x.value, static_cast<int>(-entry.integer(1, 60)));
                zero_values += x.value == 0 && x.roundings > 0;
            }
            x.exp2 += entry.integer(-spread, spread);
            return x;
        };
        // At the ends of what is allowed: M = magnitude / (1 - gamma), |t| at most M.
        const bool all_larger = random.chance(0.5);
        const auto truth_of = [&](const Tracked &x) {
            const Exact gamma = gamma_of(x.roundings), sum = magnitude_of(x) / (1 - gamma);
            Exact t = value_of(x);
            if (x.roundings == 0) return t;
            const double sign = all_larger ? (x.value < 0 ? -1 : 1) : random.uniform(-1, 1);
            t += Exact(sign) * gamma * sum;
            return Exact(t > sum ? sum : t < -sum ? Exact(-sum) : t);
        };
        std::size_t k = 0;
        for (std::int32_t i = 0; i < block.n(); ++i)
            for (const std::int32_t j : block.pattern.row(i)) {
                block.values[k] = changed(block.values[k], i, j);
                ++k;
            }
        Block plain = block;
        for (Tracked &x : plain.values) x.roundings = 0;
        const Exact truth = permanent(numbers_of(block, truth_of));
        for (const RyserPlan &plan : plans_for(block, kinds)) {
            const Outcome outcome = compute(plan, block), unaware = compute(plan, plain);
            check(outcome, truth);
            CHECK((!outcome.exact || most_roundings(block) == 0));
            check(unaware, permanent(numbers_of(block, value_of)));
            ++compared;
            beyond += abs(exactly(unaware.value) - truth) > exactly(unaware.error);
        }
    }
    CHECK(compared >= run::enough(1200));
    CHECK(beyond > run::enough(600)); // so the errors were there to be noticed
    CHECK(zero_values > 0);
}

TEST_CASE("values far below their magnitudes neither overflow nor vanish") {
    Block block = block_of(families::constant(5, 1));
    for (const bool with_errors : {false, true})
        for (const double small : {0x1p-300, 0x1p-900, 0x1p-1070}) {
            for (Tracked &x : block.values) {
                x.value = small;
                x.roundings = with_errors ? 3 : 0;
            }
            for (const RyserPlan &plan : plans_for(block, kinds_of(block))) {
                const Outcome outcome = compute(plan, block);
                check(outcome, 120 * power(value_of(block.values[0]), 5));
                CHECK(outcome.exact == !with_errors);
                if (with_errors) { // 15 roundings in 120 products of magnitudes
                    CHECK(exactly(outcome.error) >=
                          120 * gamma_of(15) * power(magnitude_of(block.values[0]), 5));
                    CHECK(exactly(outcome.error) <=
                          121 * gamma_of(15) * power(magnitude_of(block.values[0]), 5));
                }
            }
        }
}

TEST_CASE("row sums that are not exact are in the bound") {
    // With rows 1 -1 0 0 0 and 0 0 1 -1 0, both twice, the row 1 1 f f e counts only where all of it but e
    // cancels; e, once lost between 1 and f, leaves 0 in each term. The permanent is 4 e.
    const double f = 0x1p-60, e = 0x1p-120;
    const families::Dense values{
        {1, -1, 0, 0, 0}, {1, -1, 0, 0, 0}, {0, 0, 1, -1, 0}, {0, 0, 1, -1, 0}, {1, 1, f, f, e}};
    Block block = block_of(families::constant(5, 1));
    for (std::size_t k = 0; k < 25; ++k) {
        const double x = values[k / 5][k % 5];
        if (x == 0)
            block.values[k].value = 0;
        else
            block.values[k] = tracked(x);
    }
    for (const RyserPlan &plan : plans_for(block, kinds_of(block))) check(compute(plan, block), Exact(4 * e));
}

TEST_CASE("a permanent is never above its bound, which is Bregman's on 0/1 rows") {
    families::Random random(test_seed() + 3);
    int compared = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(1, 8);
        const int spread = trial % 3 ? 2 : 800;
        Block block = block_of(families::permutation_plus(
            n, n, trial % 2 ? families::Entries::nonnegative : families::Entries::ones, random.bits()));
        if (trial % 4 != 0)
            for (Tracked &x : block.values) x.exp2 += random.integer(-spread, spread);
        const PermanentBound bound = permanent_bound(block);
        const Exact most = times_power(Exact(bound.mantissa), bound.exp2);
        const Exact truth = permanent(numbers_of(block, [](const Tracked &x) { return magnitude_of(x); }));
        CHECK(most >= truth);
        compared += truth > 0;
        if (trial % 4 != 0) continue;
        double rows = 1, columns = 1; // of ones
        const Pattern t = transpose(block.pattern).pattern;
        for (std::int32_t i = 0; i < block.n(); ++i) {
            const auto d = static_cast<double>(block.pattern.row(i).size());
            const auto e = static_cast<double>(t.row(i).size());
            rows *= std::pow(std::tgamma(d + 1), 1 / d);
            columns *= std::pow(std::tgamma(e + 1), 1 / e);
        }
        CHECK(most.get_d() == doctest::Approx(std::min(rows, columns)).epsilon(1e-11));
    }
    CHECK(compared >= run::enough(400));
    const PermanentBound ones = permanent_bound(block_of(families::constant(60, 1)));
    const Exact most = times_power(Exact(ones.mantissa), ones.exp2);
    CHECK(most >= factorial(60));
    CHECK(most <= factorial(60) * Exact(1 + 1e-9));
}

TEST_CASE("the same bits whatever the number of threads") {
    const std::int64_t n = 34;
    const Block block = block_of(
        families::block_constant({{0.3, 0.7, -0.2, 0.9}, {0.6, 0.1, 0.8, -0.4}, {0.5, 0.2, 0.33, 0.77}},
                                 {n - 20, 12, 8}, {7, 8, 9, 10}));
    const Pattern t = transpose(block.pattern).pattern;
    const RyserPlan plan = plan_ryser_sum(block.pattern, t, kinds_of(block), false);
    REQUIRE(plan.terms == 7 * 9 * 10 * 11);
    const Block subsets = block_of(families::erdos_renyi(20, 0.5, families::Entries::real, 3));
    std::vector<Outcome> counted(3), plain(3);
    for (int threads = 1; threads <= 3; ++threads)
        with_threads(threads, [&] {
            counted[at(threads - 1)] = compute(plan, block);
            plain[at(threads - 1)] = compute(plan_for(subsets), subsets);
        });
    for (const std::size_t k : {1u, 2u}) {
        CHECK(same_bits(counted[0], counted[k]));
        CHECK(same_bits(plain[0], plain[k]));
    }
    CHECK(counted[0].rel_error_bound < 1e-9);
}
