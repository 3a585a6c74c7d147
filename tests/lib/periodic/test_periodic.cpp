// Matrices that repeat: their permanents by the operator of one cell, against those of the same written out.
#include "lib/base/error.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/periodic_task.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/periodic_cells.hpp"
#include "tests/support/run.hpp"
#include "tests/support/unrolled.hpp"

#include "bench/families.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace libperm;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x70657269); }

oracle::Gaussian truth_of(const PeriodicMatrix &a, std::int64_t length) {
    const Unrolled u = unrolled(a, length);
    const auto n = static_cast<std::size_t>(u.pattern.rows);
    oracle::GaussianMatrix rows(n, std::vector<oracle::Gaussian>(n));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < u.pattern.rows; ++i)
        for (const std::int32_t j : u.pattern.row(i))
            rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = u.values[k++];
    return oracle::by_subsets(rows);
}

using cells::any_value;
using cells::Kind;
using cells::planned;
using cells::text;
using cells::value_of;

PeriodicMatrix any_matrix(Random &random, Kind kind, bool joined) { return cells::any(random, kind, joined); }

// Rows and columns at the ends, as many of both over all.
void add_ends(PeriodicMatrix &a, Random &random, Kind kind) {
    const std::int64_t inner = std::int64_t{a.reach} * a.rows,
                       total = random.integer(0, std::min<std::int64_t>(inner, 3));
    a.head.columns = random.integer(0, total);
    a.tail.columns = total - a.head.columns;
    a.head.rows = static_cast<std::int32_t>(random.integer(0, total));
    a.tail.rows = static_cast<std::int32_t>(total) - a.head.rows;
    const auto fill = [&](PeriodicEnd &end, bool is_head) {
        for (std::int32_t i = 0; i < end.rows; ++i)
            for (std::int64_t place = is_head ? -end.columns : -inner;
                 place < (is_head ? inner : end.columns); ++place) {
                if (random.uniform() < 0.4) continue;
                const std::int64_t cell = (place + 4 * inner + 4 * a.rows) / a.rows - 4 * a.reach - 4;
                end.entries.push_back(
                    {i, static_cast<std::int32_t>(place - cell * a.rows), static_cast<std::int32_t>(cell)});
                end.values.push_back(any_value(kind, random));
            }
    };
    fill(a.head, true);
    fill(a.tail, false);
}

void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    if (!std::isfinite(outcome.error.mantissa)) return;
    const Gaussian value = value_of(outcome);
    const oracle::Exact re = value.re - truth.re, im = value.im - truth.im, error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

} // namespace

TEST_CASE("each length is the permanent of the matrix written out, exactly and within its bound") {
    Random random(test_seed());
    int compared = 0, finite = 0, others = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        const Kind kind = static_cast<Kind>(trial % 4);
        const bool joined = trial / 4 % 2 == 1;
        PeriodicMatrix a = any_matrix(random, kind, joined);
        if (!joined && trial / 8 % 2 == 1) add_ends(a, random, kind);
        CAPTURE(trial);
        CAPTURE(text(a));
        const PeriodicPlan plan = planned(a);
        const std::int64_t extra = a.head.rows + a.tail.rows, first = joined ? 1 : 0;
        const std::int64_t count = std::min<std::int64_t>((12 - extra) / a.rows, 7) - first + 1;
        if (count < 1) continue;
        const std::vector<Outcome> exact = cells::exact_terms(plan, first, count),
                                   doubles = float_terms(plan, first, count, false),
                                   dd = float_terms(plan, first, count, true);
        for (std::int64_t k = 0; k < count; ++k) {
            CAPTURE(first + k);
            const oracle::Gaussian truth = truth_of(a, first + k);
            const auto at = static_cast<std::size_t>(k);
            CHECK(plan.nnz(first + k) == unrolled(a, first + k).pattern.nnz());
            CHECK(value_of(exact[at]).re == truth.re);
            CHECK(value_of(exact[at]).im == truth.im);
            check_bound(doubles[at], truth);
            check_bound(dd[at], truth);
            finite += std::isfinite(doubles[at].error.mantissa);
            others += truth.re != 0;
            ++compared;
        }
    }
    CHECK(compared > run::enough(1000));
    CHECK(finite == compared);
    CHECK(others > run::enough(400));
}

TEST_CASE("primes of any length, those of a GPU on the processor, tell the same numbers") {
    Random random(test_seed() + 9);
    int compared = 0, several = 0;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        const Kind kind = static_cast<Kind>(trial % 4);
        const PeriodicMatrix a = any_matrix(random, kind, trial / 4 % 2 == 1);
        CAPTURE(text(a));
        const PeriodicPlan plan = planned(a);
        const std::int64_t first = random.integer(20, 60), count = random.integer(1, 3);
        const std::vector<Outcome> truth = cells::exact_terms(plan, first, count);
        const double bits = primes_of_terms(plan, first, count).product_bits();
        for (const int length : {modular_bits, residue_lane_bits, residue_bits}) {
            CAPTURE(length);
            const TermPrimes primes{length, static_cast<std::int64_t>(bits / (length - 0.01)) + 1};
            ExactTerms exact(plan, first, count, primes);
            const std::vector<Outcome> found = exact.outcomes(exact.residues());
            for (std::size_t k = 0; k < truth.size(); ++k, ++compared) {
                CHECK(value_of(found[k]).re == value_of(truth[k]).re);
                CHECK(value_of(found[k]).im == value_of(truth[k]).im);
            }
            several += pieces_of(primes, a.joined).count() > 1;
        }
    }
    CHECK(compared > run::enough(200));
    CHECK(several > run::enough(20));
}

TEST_CASE("operators of ones, eight primes or starts side by side") {
    Random random(test_seed() + 6);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const bool joined = trial % 2 == 1;
        PeriodicMatrix a = any_matrix(random, Kind::ones, joined);
        if (!joined && trial % 4 == 2) add_ends(a, random, Kind::ones);
        CAPTURE(text(a));
        const PeriodicPlan plan = planned(a);
        const std::int64_t extra = a.head.rows + a.tail.rows, first = joined ? 1 : 0,
                           count = std::min<std::int64_t>((12 - extra) / a.rows, 7) - first + 1;
        if (count < 1) continue;
        CHECK(bits_of_primes(plan, 1e3) == 59);
        const std::vector<std::uint64_t> primes = primes_below(59, 9, false);
        const ResidueTerms terms = terms_modulo(plan, integer_entries(plan), primes, first, count);
        REQUIRE(terms.size() == primes.size());
        for (std::int64_t k = 0; k < count; ++k) {
            const mpz_class truth = truth_of(a, first + k).re.get_num();
            for (std::size_t p = 0; p < primes.size(); ++p)
                CHECK(terms[p][static_cast<std::size_t>(k)] == mpz_fdiv_ui(truth.get_mpz_t(), primes[p]));
            compared += truth != 0;
        }
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("a term far out: by squares, by the recurrence, and step by step") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const PeriodicMatrix a =
            any_matrix(random, trial % 2 == 0 ? Kind::ones : Kind::integers, trial % 3 == 0);
        const PeriodicPlan plan = planned(a);
        CAPTURE(text(a));
        const std::int64_t m =
            plan.first_term() + 2 * (2 * plan.recurrence_order() + 2) + random.integer(1, 30);
        if (m > 400) continue;
        const std::uint64_t prime = primes_below(62, 1, false).front();
        const IntegerEntries entries = integer_entries(plan);
        const std::uint64_t by_steps = terms_modulo(plan, entries, {prime}, m, 1).front().front();
        const ResidueTerms by_recurrence = told_terms(
            1, [&](const TellTerms &tell) { find_by_recurrence(plan, entries, {prime}, m, 1, tell); });
        CHECK(by_recurrence.front().front() == by_steps);
        const Outcome exact = cells::exact_terms(plan, m, 1).front();
        mpz_class residue;
        mpz_fdiv_r(residue.get_mpz_t(), value_of(exact).re.get_num_mpz_t(), mpz_class(prime).get_mpz_t());
        CHECK(residue == mpz_class(by_steps));
        const Outcome walked = float_terms(plan, 1, m, false).back(),
                      squared = float_terms(plan, m, 1, true).front();
        check_bound(walked, value_of(exact));
        const auto some_exact = cells::exact_terms(plan, m, 3), some = float_terms(plan, m, 3, false);
        for (std::size_t k = 0; k < some.size(); ++k) check_bound(some[k], value_of(some_exact[k]));
        check_bound(squared, value_of(exact));
        ++compared;
    }
    CHECK(compared > run::enough(30));
}

TEST_CASE("the generating function has the terms, those beyond it too") {
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const bool joined = trial % 3 == 0;
        const Kind kind = trial % 5 == 0 ? Kind::rationals : trial % 2 == 0 ? Kind::ones : Kind::integers;
        PeriodicMatrix a = any_matrix(random, kind, joined);
        if (!joined && trial % 4 == 1) add_ends(a, random, kind);
        CAPTURE(text(a));
        const PeriodicPlan plan = planned(a);
        if (plan.states() > 60) continue;
        const GeneratingFunction f = generating_function(plan);
        CHECK(f.proven);
        CHECK(f.order <= f.states);
        REQUIRE(f.denominator.front() == 1);
        const std::int64_t count = 3 * f.states + 10, first = joined ? 1 : 0;
        const std::vector<Outcome> terms = cells::exact_terms(plan, first, count);
        std::vector<mpq_class> series;
        for (std::int64_t m = 0; m < first + count; ++m) {
            const auto at = static_cast<std::size_t>(m);
            mpq_class x = at < f.numerator.size() ? f.numerator[at] : mpq_class(0);
            for (std::size_t j = 1; j < f.denominator.size() && j <= at; ++j)
                x -= f.denominator[j] * series[at - j];
            series.push_back(x);
            const mpq_class truth =
                m < first ? mpq_class(0) : value_of(terms[static_cast<std::size_t>(m - first)]).re;
            CHECK(series.back() == truth);
            ++compared;
        }
    }
    CHECK(compared > run::enough(1000));
}

TEST_CASE("the growth lies within its bracket") {
    Random random(test_seed() + 3);
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const PeriodicMatrix a = any_matrix(random, Kind::ones, trial % 2 == 0);
        CAPTURE(text(a));
        const PeriodicPlan plan = planned(a);
        if (plan.states() > 64) continue;
        const Growth growth = growth_of(plan);
        CHECK(growth.lower <= growth.value);
        CHECK(growth.value <= growth.upper);
        // a(m) <= c rho^m: the m-th root of a late term is near the largest, or below.
        const std::int64_t m = plan.open.least + 4000;
        const Outcome late = float_terms(plan, m, 1, true).front();
        if (late.value.mantissa == 0) continue;
        const double root = std::exp2(
            (std::log2(late.value.mantissa) + static_cast<double>(late.value.exp2)) / static_cast<double>(m));
        CHECK(root <= growth.upper * 1.02);
        CHECK(growth.upper - growth.lower <= 1e-6 * growth.upper);
        ++compared;
    }
    CHECK(compared > run::enough(20));
}

TEST_CASE("recurrences: the shortest, and terms far out") {
    const std::uint64_t p = primes_below(62, 1, false).front();
    // Fibonacci's, behind two terms that do not belong to it.
    std::vector<std::uint64_t> terms{7, 3, 1, 1};
    for (int k = 0; k < 40; ++k) terms.push_back(terms[terms.size() - 1] + terms[terms.size() - 2]);
    const std::vector<std::uint64_t> few(terms.begin(), terms.begin() + 12);
    const Recurrence r = shortest_recurrence(few, p);
    CHECK(r.order == 4);
    CHECK(r.c == std::vector<std::uint64_t>{1, p - 1, p - 1});
    for (std::uint64_t n = 0; n < terms.size(); ++n) CHECK(term_of(r, few, n, p) == terms[n]);
    CHECK(shortest_recurrence({0, 0, 0, 0}, p).order == 0);
}
