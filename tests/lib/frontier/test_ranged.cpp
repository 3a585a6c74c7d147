// The frontier with exponents of its own for each state: within its bounds whatever the entries, and taken
// where doubles underflow.
#include "lib/number/wide_value.hpp"
#include "tests/support/check.hpp"
#include "tests/support/hubs.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace libperm;
using namespace wide;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x72616e67); }

EngineResult run_ranged(const FrontierInput &input, const FrontierProgram &program) {
    Budgets b;
    return run_ranged_frontier({input, program, b.memory, 1});
}

// |value - truth| <= error.
void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    REQUIRE(std::isfinite(outcome.error.mantissa));
    const oracle::Gaussian value = outcome.wide ? *outcome.wide : oracle::Gaussian{exactly(outcome.value), 0};
    const oracle::Exact re = value.re - truth.re, im = value.im - truth.im, error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

// By powers of two far out of the range of a double, those of equal columns the same.
void spread(Case &c, Random &random) {
    std::size_t k = 0;
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
        const auto row = c.block.pattern.row(static_cast<std::int32_t>(i));
        const auto power = c.program.counts ? random.integer(-3000, 3000) : 0;
        for (const std::int32_t j : row) {
            const auto by = c.program.counts ? power : random.integer(-3000, 3000);
            Gaussian &x = c.rows[i][at(j)];
            x = {times_power(x.re, by), times_power(x.im, by)};
            c.block.values[k++] = x;
        }
    }
}

// Full blocks in a ring, each joined to the next by an entry that is `weak`. A term goes once all around the
// ring, or stays in the blocks.
struct Ring {
    perm::Csr a;
    oracle::Exact permanent;
};
Ring ring(std::int64_t blocks, std::int64_t k, double weak, Random &random) {
    hubs::Rows rows(hubs::at(blocks * k));
    oracle::Exact inside = 1, around = 1;
    for (std::int64_t b = 0; b < blocks; ++b) {
        families::Dense block(hubs::at(k), std::vector<double>(hubs::at(k)));
        for (std::int64_t i = 0; i < k; ++i)
            for (std::int64_t j = 0; j < k; ++j) {
                const auto x = static_cast<double>(random.integer(1, 9));
                block[hubs::at(i)][hubs::at(j)] = x;
                rows[hubs::at(b * k + i)].emplace_back(b * k + j, x);
            }
        rows[hubs::at(b * k)].emplace_back((b + 1) % blocks * k, weak);
        inside *= oracle::by_ryser(families::from_dense(block));
        block.erase(block.begin());
        for (auto &row : block) row.erase(row.begin());
        around *= oracle::by_ryser(families::from_dense(block)) * weak;
    }
    return {hubs::matrix_of(std::move(rows)), inside + around};
}

} // namespace

TEST_CASE("ranged: within the bounds of exact permanents, with entries any powers of two apart") {
    Random random(test_seed());
    int compared = 0, doubles = 0;
    for (int trial = 0; trial < run::cases(270); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const bool repeated = trial % 4 == 1;
        Case c = make_case(random.integer(2, 8), random.uniform(0.2, 1), kind, repeated,
                           trial % 2 ? Order::searched : Order::shuffled, random);
        if (random.chance(0.7)) spread(c, random);
        const oracle::Gaussian truth = c.permanent();
        for (const Arithmetic arithmetic : {Arithmetic::complex, Arithmetic::dd, Arithmetic::complex_dd}) {
            if (arithmetic == Arithmetic::dd && !wide::is_real(kind)) continue;
            const WideEntries entries = wide_entries(c.block, arithmetic, false);
            const Outcome outcome = outcome_of(run_ranged(entries, c.program));
            check_bound(outcome, truth);
            ++compared;
            if (entries.nonnegative && truth.re != 0)
                CHECK(outcome.rel_error_bound < (is_dd(arithmetic) ? 1e-28 : 1e-13));
        }
        if (!wide::is_real(kind)) continue;
        Block block{c.block.pattern, {}};
        for (const Gaussian &x : c.block.values) block.values.push_back(tracked_of(x.re));
        check_bound(outcome_of(run_ranged(block, c.program)), truth);
        ++doubles;
    }
    CHECK(compared > run::enough(400));
    CHECK(doubles > run::enough(100));
}

TEST_CASE("ranged: a long ring whose states grow apart has as many digits as a short one") {
    Random random(test_seed());
    const std::int64_t blocks = run::sanitized ? 130 : 170;
    const auto [a, truth] = ring(blocks, 8, 0x1p-60, random);
    const struct {
        const char *precision;
        double bound;
    } cases[] = {{"double", 1e-10}, {"dd", 1e-25}};
    for (const auto &[precision, bound] : cases) {
        CAPTURE(precision);
        perm_opts opts = PERM_OPTS_INIT;
        opts.engine = "frontier";
        opts.precision = precision;
        const perm_csr view = a.view();
        perm::Result r;
        REQUIRE(perm_compute(&view, &opts, r.raw()) == PERM_OK);
        check_result(*r.raw(), truth);
        CHECK(r->rel_error_bound < bound);
    }
}
