// Small matrices made to break error bounds, in every precision by every engine of the CPU, against exact
// permanents over Q(i): the bound is never below the true error, and `exact` is. A million sums, 8 minutes:
//     PERM_TEST_SEED=7 PERM_TEST_MULTIPLIER=42 build/release/tests/test_bounds_numbers
#include "lib/base/error.hpp"
#include "lib/execute/execute.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

using libperm::Arithmetic, libperm::Gaussian, libperm::Outcome;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

mpq_class squared(const Gaussian &x) { return x.re * x.re + x.im * x.im; }

mpq_class squared_distance(const Gaussian &x, const Gaussian &y) {
    return squared({x.re - y.re, x.im - y.im});
}

Gaussian value_of(const Outcome &outcome) {
    return outcome.wide ? *outcome.wide : Gaussian{exactly(outcome.value), 0};
}

// What perm_compute does, seen from inside.
Outcome outcome_of(const perm_csr &a, const perm_opts &opts) {
    const libperm::Options options = libperm::read_options(&opts);
    libperm::CurrentCall control(options);
    libperm::InputPattern input = libperm::read_pattern(&a);
    libperm::Values values = libperm::read_values(input, a.values);
    libperm::simplify(input, values);
    const libperm::Plan plan = libperm::make_plan(std::move(input), options, values);
    return libperm::execute(plan, values);
}

// ---------------------------------------------------------------- checks

void check_bounds(const Outcome &outcome, const Gaussian &truth) {
    const mpq_class error = squared_distance(value_of(outcome), truth);
    const double bound = outcome.rel_error_bound;
    CHECK(outcome.exact == (bound == 0));
    CHECK(outcome.exact == (outcome.error.mantissa == 0));
    if (outcome.exact) CHECK(error == 0);
    if (std::isfinite(outcome.error.mantissa)) {
        const mpq_class most = exactly(outcome.error);
        CHECK(error <= most * most);
        const double above = libperm::to_double_up(outcome.error);
        if (std::isfinite(above)) CHECK(mpq_class(above) >= most);
    }
    const std::string text = libperm::answer_of(outcome).text;
    CAPTURE(text);
    const mpq_class text_error = squared_distance(number_of(text), truth);
    if (outcome.exact) CHECK(text_error == 0);
    if (const libperm::Scaled written = libperm::answer_of(outcome).error; std::isfinite(written.mantissa)) {
        const mpq_class most = exactly(written);
        CHECK(text_error <= most * most);
    }
    if (!std::isfinite(bound)) return;
    CHECK(error <= mpq_class(bound) * mpq_class(bound) * squared(truth));
    CHECK(text_error <= mpq_class(bound) * mpq_class(bound) * squared(truth));
}

// Of one way to compute them.
struct Tally {
    int compared = 0, finite = 0, exact = 0;
    double worst = 0; // error over bound, of those that are not exact
};

class Tallies {
  public:
    void compare(const std::string &way, const Outcome &outcome, const Gaussian &truth) {
        check_bounds(outcome, truth);
        Tally &tally = ways_[way];
        ++tally.compared;
        tally.exact += outcome.exact;
        tally.finite += std::isfinite(outcome.rel_error_bound);
        if (outcome.exact || !std::isfinite(outcome.error.mantissa)) return;
        const mpq_class most = exactly(outcome.error);
        const mpq_class share = squared_distance(value_of(outcome), truth) / (most * most);
        tally.worst = std::max(tally.worst, std::sqrt(share.get_d()));
    }

    Tally total() const {
        Tally sum;
        for (const auto &[way, tally] : ways_) {
            sum.compared += tally.compared;
            sum.finite += tally.finite;
            sum.exact += tally.exact;
            sum.worst = std::max(sum.worst, tally.worst);
        }
        return sum;
    }

    void print(std::uint64_t seed) const {
        std::printf("seed %llu\n%-36s %9s %11s %9s  %s\n", static_cast<unsigned long long>(seed), "",
                    "compared", "with digits", "exact", "worst error/bound");
        const auto line = [](const std::string &way, const Tally &tally) {
            std::printf("%-36s %9d %11d %9d  %.3g\n", way.c_str(), tally.compared, tally.finite, tally.exact,
                        tally.worst);
        };
        for (const auto &[way, tally] : ways_) line(way, tally);
        line("all", total());
    }

    bool have(const std::string &way) const { return ways_.count(way) != 0; }

  private:
    std::map<std::string, Tally> ways_;
};

// ---------------------------------------------------------------- sums of engine tree

// By plans that no planner makes, of a block as it is or scaled, in each of the engine's numbers.
void compare_trees(const GaussianMatrix &a, const Gaussian &truth, Random &random, Tallies &tallies) {
    libperm::ExactBlock exact = random.chance(0.5) ? full_block(a) : sparse_block(a, random);
    const std::int32_t n = exact.n();
    if (n < 2 || libperm::maximum_matching(libperm::nonzero_pattern(exact)).size != n) return;
    const auto sum = [&](const std::string &way, const trees::SubsetPlan &plan,
                         const libperm::EngineInput &input, const Gaussian &expected) {
        INFO(way, " of\n", text_of(a));
        tallies.compare(way, libperm::outcome_of(run_subset_sum(plan, input, {{}, true})), expected);
    };
    for (const auto &[way, arithmetic] : {std::pair{"a tree, complex", Arithmetic::complex},
                                          {"a tree, complex two grids", Arithmetic::complex_two_grids},
                                          {"a tree, complex split", Arithmetic::complex_split},
                                          {"a tree, complex dd", Arithmetic::complex_dd}})
        sum(way, with_arithmetic(trees::any_plan(exact.pattern, 300, random), arithmetic),
            {exact, arithmetic}, truth);
    if (!std::ranges::all_of(exact.values, [](const Gaussian &x) { return libperm::is_real(x); })) return;

    libperm::Block block{exact.pattern, {}};
    for (const Gaussian &x : exact.values) block.values.push_back(libperm::tracked(x.re.get_d()));
    Gaussian expected = truth;
    if (random.chance(0.7)) {
        expected.re = libperm::shifted(truth.re, libperm::scale(block));
        for (std::size_t e = 0; e < block.values.size(); ++e) exact.values[e].re = exactly(block.values[e]);
    }
    trees::SubsetPlan plan = trees::any_plan(exact.pattern, 300, random);
    if (random.chance(0.7)) {
        plan.tolerance = std::pow(10.0, random.uniform(-15, -9));
        plan.most_refined = random.chance(0.5) ? 1 : random.uniform(0, 1);
    }
    const libperm::RefinedSegments refined =
        choose_refined(plan, libperm::FixedPointDouble(plan, block).numbers());
    sum(refined.all                   ? "a tree, all segments dd"
        : std::isfinite(refined.most) ? "a tree, some segments again"
                                      : "a tree, doubles",
        plan, block, expected);
    for (const auto &[way, arithmetic] : {std::pair{"a tree, two grids", Arithmetic::two_grids},
                                          {"a tree, split", Arithmetic::split},
                                          {"a tree, dd", Arithmetic::dd}})
        sum(way, with_arithmetic(trees::any_plan(exact.pattern, 300, random), arithmetic),
            {exact, arithmetic}, expected);
}

} // namespace

TEST_CASE("no bound is below the true error" * doctest::skip(run::sanitized)) {
    const std::uint64_t seed = run::seed(801);
    Random random(seed);
    Tallies tallies;
    int zeros = 0, refused = 0;
    for (int round = 0; round < run::cases(1000); ++round) {
        GaussianMatrix a = adversarial(random.chance(0.9) ? 7 : 9, random);
        const bool written = random.chance(0.3); // as text: of no doubles
        if (written)
            for (Gaussian &x : a.front()) x = {x.re / 3, x.im / 7};
        const Gaussian truth = oracle::by_subsets(a);
        zeros += libperm::is_zero(truth);
        INFO("round ", round, written ? ", the first row's parts over 3 and 7" : "");
        if (!written) compare_trees(a, truth, random, tallies);
        const Given g = given(a, written ? As::text : As::complex);
        for (const std::string engine : {"auto", "ryser", "frontier", "tree"})
            for (const std::string precision : {"auto", "double", "kahan", "dd", "exact", "mpfr:200"}) {
                perm_opts opts = in_precision(engine.c_str(), precision.c_str());
                opts.threads = 1;
                const char *const without[] = {"", "all", "merge", "scaling"};
                opts.without = without[random.integer(0, 3)];
                opts.tolerance = random.chance(0.5)   ? 1e-9
                                 : random.chance(0.5) ? 1e-40
                                                      : std::pow(10.0, random.uniform(-20, -9));
                INFO(engine, ", ", precision, ", without ", std::string(opts.without), ", tolerance ",
                     opts.tolerance, ":\n", text_of(a));
                Outcome outcome;
                try {
                    outcome = outcome_of(g.csr, opts);
                } catch (const libperm::Error &error) {
                    // Overflow, where nothing was scaled.
                    CHECK(std::string(opts.without) == "scaling");
                    CHECK(error.status() == PERM_UNSUPPORTED);
                    CHECK(std::string(error.what()).find("leave the pass \"scaling\" on") !=
                          std::string::npos);
                    ++refused;
                    continue;
                }
                tallies.compare(engine + ", " + precision, outcome, truth);
                if (precision == "exact") CHECK(outcome.exact);
                if (precision == "auto") CHECK(outcome.rel_error_bound <= opts.tolerance);
            }
    }
    tallies.print(seed);
    const Tally all = tallies.total();
    MESSAGE(all.compared, " compared, of these ", all.finite, " with digits, ", all.exact, " exact; ", zeros,
            " permanents are 0; refused: ", refused);
    CHECK(all.compared > 1000);
    CHECK(all.finite > all.compared / 2);
    CHECK(all.exact < all.compared);
    CHECK(zeros > 0);
    for (const char *way : {"a tree, all segments dd", "a tree, some segments again", "a tree, doubles",
                            "a tree, two grids", "a tree, dd", "a tree, complex", "a tree, complex dd"}) {
        CAPTURE(way);
        CHECK(tallies.have(way));
    }
}

TEST_CASE("where the digits of two doubles are just enough, they are not rounded to those of one") {
    Random random(run::seed(802));
    int compared = 0;
    for (int round = 0; round < 400; ++round) {
        const GaussianMatrix a = adversarial(5, random);
        const Given g = given(a, As::complex);
        perm_opts opts = in_precision("frontier", "dd");
        opts.threads = 1;
        const double rounded = outcome_of(g.csr, opts).rel_error_bound;
        if (rounded <= 0x1p-52 || !std::isfinite(rounded)) continue;
        opts.precision = "auto";
        opts.tolerance = rounded - 0x1p-54; // below the bound of the answer in doubles, above that of dd
        CAPTURE(opts.tolerance);
        CAPTURE(text_of(a));
        const Outcome outcome = outcome_of(g.csr, opts);
        check_bounds(outcome, oracle::by_subsets(a));
        CHECK(outcome.rel_error_bound <= opts.tolerance);
        ++compared;
    }
    CHECK(compared > 10);
}
