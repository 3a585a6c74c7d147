// Which segments are summed again: the choice against the whole list of segments, and what it is made from.
#include "jit/kernel/subset_source.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/segments.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "preprocess/permanent_bound.hpp"
#include "tests/support/check.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace libperm;
using oracle::Exact;
using perm::families::Random;
namespace families = perm::families;
using trees::at;

namespace {

perm::Csr nonnegative(std::int64_t n, double density, Random &random) {
    for (;;) {
        perm::Csr a = families::erdos_renyi(n, density, families::Entries::nonnegative, random.bits());
        if (maximum_matching(trees::block_of(a).pattern).size == n) return a;
    }
}

// Of all columns looped over, in segments of 16 subsets.
SubsetPlan short_segments(const Pattern &p, Random &random) {
    std::vector<std::int32_t> order;
    for (const std::int64_t j : random.permutation(p.rows)) order.push_back(static_cast<std::int32_t>(j));
    TreePart root;
    root.end = p.rows - 1;
    SubsetPlan plan = trees::plan_with(p, order, root, 4);
    plan.most_refined = 1;
    return plan;
}

std::vector<Partial3> all_segments(const SubsetPlan &plan, const std::vector<double> &numbers) {
    const TreeWalk walk(plan.kernel.tree, numbers);
    std::vector<Partial3> sums(std::size_t{1} << (plan.kernel.n - 1 - plan.kernel.segment_bits));
    for (std::size_t k = 0; k < sums.size(); k += TreeWalk::lanes)
        walk.run(k, std::span(sums).subspan(k, std::min<std::size_t>(TreeWalk::lanes, sums.size() - k)));
    return sums;
}

Outcome outcome_of(const SubsetPlan &plan, const Block &block) {
    return libperm::outcome_of(run_subset_sum(plan, block, {{}, true}));
}

Exact error_of(const Outcome &outcome, const Exact &truth) { return abs(exactly(outcome.value) - truth); }

// Two dense blocks of opposite signs beside each other: a permanent of exactly 0.
perm::Csr cancelling(std::int64_t n, Random &random) {
    families::Dense rows =
        families::to_dense(families::erdos_renyi(n, 1, families::Entries::real, random.bits()));
    for (std::size_t j = 0; j < at(n); ++j) rows[1][j] = (j % 2 == 0 ? 1 : -1) * rows[0][j];
    for (std::size_t i = 2; i < at(n); ++i)
        for (std::size_t j = 0; j + 1 < at(n); j += 2) rows[i][j + 1] = rows[i][j];
    for (std::size_t j = 0; j + 1 < at(n); j += 2) rows[0][j + 1] = rows[0][j], rows[1][j + 1] = -rows[1][j];
    return families::from_dense(rows);
}

} // namespace

TEST_CASE("the segments chosen are enough for the tolerance, and few more than are needed") {
    Random random(run::seed(9500));
    int some = 0, none = 0;
    for (int repeat = 0; repeat < run::cases(12); ++repeat) {
        const std::int64_t n = random.integer(15, 18);
        const double density = random.chance(0.3) ? 1 : random.uniform(0.35, 0.8);
        const perm::Csr a = nonnegative(n, density, random);
        const Block block = trees::block_of(a);
        SubsetPlan plan = short_segments(block.pattern, random);
        const FixedPointDouble values(plan, block);
        const std::vector<Partial3> segments = all_segments(plan, values.numbers());
        std::vector<double> sorted;
        double sum = 0;
        for (const Partial3 &s : segments) sorted.push_back(s.absolute), sum += s.sum.sum;
        std::sort(sorted.begin(), sorted.end());
        const RoundingWay way = way_of(plan.kernel);
        const double rho = gamma_bound(way.roundings + 4) + way.compensated;
        for (const double tolerance : {1e-9, 1e-11, 1e-12, 1e-13}) {
            CAPTURE(n);
            CAPTURE(density);
            CAPTURE(tolerance);
            plan.tolerance = tolerance;
            const RefinedSegments refined = choose_refined(plan, values.numbers());
            // The least number that leaves the bound below: a sixteenth of the tolerance, as cautious as
            // that.
            const double few_enough = tolerance / 16 * std::fabs(sum) / (2 * rho);
            std::size_t left = 0;
            for (double rest = 0; left < sorted.size() && rest + sorted[left] <= few_enough; ++left)
                rest += sorted[left];
            const auto needed = static_cast<double>(sorted.size() - left);
            const auto chosen = static_cast<double>(
                std::count_if(sorted.begin(), sorted.end(), [&](double x) { return x > refined.most; }));
            if (refined.all) {
                CHECK(needed > 0.2 * static_cast<double>(sorted.size()));
                continue;
            }
            double rest = 0;
            for (const double x : sorted) rest += x > refined.most ? 0 : x;
            CHECK(2 * rho * rest < tolerance * std::fabs(sum));
            CHECK(chosen <= 6 * needed + 0.03 * static_cast<double>(sorted.size()));
            (chosen > 0 ? some : none) += 1;
        }
    }
    CHECK(some > run::enough(10));
}

TEST_CASE("whatever the values are, the bound holds, and the same bits come again") {
    Random random(run::seed(9501));
    const auto one_heavy = [&](std::int64_t n) { // nearly all of the mass in a few terms
        families::Dense rows =
            families::to_dense(families::erdos_renyi(n, 1, families::Entries::nonnegative, random.bits()));
        for (std::size_t i = 0; i < at(n); ++i)
            for (std::size_t j = 0; j < at(n); ++j) rows[i][j] *= i == j ? 1 : 1e-7;
        return families::from_dense(rows);
    };
    const auto equal = [&](std::int64_t n) { // one entry in a row: all segments are alike
        return families::permutation_plus(n, 1, families::Entries::nonnegative, random.bits());
    };
    for (int repeat = 0; repeat < run::cases(4); ++repeat)
        for (const perm::Csr &a :
             {one_heavy(12), equal(13), cancelling(12, random), nonnegative(13, 0.6, random)}) {
            const Block block = trees::block_of(a);
            const Exact truth = oracle::by_frontier(a);
            SubsetPlan plan = short_segments(block.pattern, random);
            for (const double tolerance : {1e-9, 1e-12}) {
                plan.tolerance = tolerance;
                const Outcome outcome = outcome_of(plan, block), once_more = outcome_of(plan, block);
                CHECK(error_of(outcome, truth) <= exactly(outcome.error));
                CHECK(outcome.value.mantissa == once_more.value.mantissa);
                CHECK(outcome.error.mantissa == once_more.error.mantissa);
            }
        }
}

TEST_CASE("all segments at once in numbers of twice the precision: nearer to the truth than doubles") {
    Random random(run::seed(9502));
    int nearer = 0, compared = 0;
    for (int repeat = 0; repeat < run::cases(20); ++repeat) {
        const perm::Csr a = nonnegative(random.integer(8, 13), random.uniform(0.4, 1), random);
        const Block block = trees::block_of(a);
        const Exact truth = oracle::by_frontier(a);
        SubsetPlan plan = short_segments(block.pattern, random);
        const FixedPointDouble values(plan, block);
        plan.tolerance = 0;
        const Outcome plain = outcome_of(plan, block);
        // The exact sum of what lies on the grid is not the truth, but much closer to it than doubles are.
        const SubsetPlan pair = refined_plan(plan);
        const TreeWalk walk(pair.kernel.tree, values.numbers(), pair.kernel.arithmetic);
        Exact sum = 0;
        for (std::uint64_t s = 0; s < std::uint64_t{1} << (plan.kernel.n - 1 - plan.kernel.segment_bits);
             ++s) {
            PartialOf<number::Compensated<double>> partial{};
            walk.run(std::span(&s, 1), &partial);
            sum += Exact(partial.sum.hi) + Exact(partial.sum.lo);
        }
        Exact value = sum * (plan.kernel.n % 2 ? 2 : -2);
        value = exactly(make_scaled(1, values.exp2())) * value;
        const Exact of_pair = abs(Exact(value - truth)), of_plain = error_of(plain, truth);
        CHECK(of_pair <= abs(truth) * Exact(values.moved() * 1.01 + 1e-25));
        nearer += of_pair <= of_plain;
        ++compared;
    }
    CHECK(nearer > compared / 2);
}

TEST_CASE("row sums on two grids: the bits of a CPU by a kernel, and within the bound") {
    Random random(run::seed(9505));
    struct Case {
        Block block;
        Exact truth;
        SubsetPlan plan;
    };
    std::vector<Case> cases;
    for (int repeat = 0; repeat < run::cases(12); ++repeat) {
        const std::int64_t n = random.integer(3, 12);
        perm::Csr a = repeat % 4 == 0 && n >= 4 ? cancelling(n, random)
                                                : trees::matrix(n, families::Entries::real, random);
        if (repeat % 3 == 0) // rows and columns of any size
            for (double &x : a.values) x = std::ldexp(x, static_cast<int>(random.integer(-60, 60)));
        const Block block = trees::block_of(a);
        SubsetPlan plan = trees::any_plan(block.pattern, 300, random);
        cases.push_back({block, oracle::by_frontier(a), with_arithmetic(plan, Arithmetic::split)});
    }
    HostQueue queue;
    std::vector<KernelRecipe> kernels;
    for (const Case &c : cases) kernels.push_back(subsets_kernel(c.plan.kernel));
    const bool can_play = subset_cases::compiled(queue, kernels);
    int certain = 0;
    for (const Case &c : cases) {
        CAPTURE(c.plan.kernel.n);
        CAPTURE(c.plan.kernel.segment_bits);
        const ExactBlock exact = exact_block(c.block);
        const EngineInput input(exact, Arithmetic::split);
        const Outcome on_cpu = libperm::outcome_of(run_subset_sum(c.plan, input, {{}, true}));
        const Exact error = abs(Exact(on_cpu.wide->re - c.truth));
        CHECK(error <= exactly(on_cpu.error));
        certain += on_cpu.rel_error_bound < 1e-20;
        if (!can_play) continue;
        queue.device = {};
        const Outcome by_kernel =
            libperm::outcome_of(run_subset_sum(c.plan, input, {DeviceQueues(queue), false}));
        CHECK(by_kernel.wide->re == on_cpu.wide->re);
        CHECK(by_kernel.error.mantissa == on_cpu.error.mantissa);
    }
    CHECK(certain > run::enough(3));
}

TEST_CASE("permanents are estimated to within a factor") {
    Random random(run::seed(9503));
    for (int repeat = 0; repeat < run::cases(60); ++repeat) {
        const std::int64_t n = random.integer(2, 11);
        const perm::Csr a = nonnegative(n, random.chance(0.3) ? 1 : random.uniform(0.3, 0.9), random);
        const Pattern p = trees::block_of(a).pattern;
        const Transposed t = transpose(p);
        std::vector<double> value;
        for (const auto e : t.source) value.push_back(a.values[at(e)]);
        const double estimate = log2_permanent_estimate({t.pattern.row_ptr, t.pattern.col, value}),
                     truth = std::log2(oracle::by_frontier(a).get_d());
        CHECK(std::fabs(estimate - truth) < 3);
    }
    const std::vector<std::int64_t> ptr{0, 1, 1};
    const std::vector<std::int32_t> row{0};
    const std::vector<double> one{1};
    CHECK(log2_permanent_estimate({ptr, row, one}) < -1000); // a column is empty
}

TEST_CASE("signed blocks of full mantissas have the digits that were asked for, by default") {
    Random random(run::seed(9504));
    for (const std::int64_t n : {16, 19}) {
        const perm::Csr a = families::erdos_renyi(n, 1, families::Entries::real, random.bits());
        perm_opts opts = PERM_OPTS_INIT;
        opts.engine = "tree";
        opts.cache_dir = "";
        perm::Result result = perm::compute(a.view(), opts);
        CHECK(result->tolerance_met == 1);
        CHECK(result->rel_error_bound <= 1e-9);
        const Exact truth = oracle::by_frontier(a);
        CHECK(abs(Exact(Exact(result->re) - truth)) <= Exact(result->rel_error_bound + 0x1p-52) * abs(truth));
        opts.tolerance = 1e-15; // products of doubles cannot have it
        const perm::Result finer = perm::compute(a.view(), opts);
        CHECK(finer->tolerance_met == 1);
        opts.precision = "double"; // by name products are kept to
        result = perm::compute(a.view(), opts);
        CHECK(result->tolerance_met == 0);
        CHECK(result->rel_error_bound < 1e-9);
    }
}
