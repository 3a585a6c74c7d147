// Two subsets at once: a tree that differentiates along columns of ones, against exact permanents; its
// kernels give the interpreter's bits, and its bounds hold the terms that they are to hold.
#include "jit/kernel/subset_source.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "lib/run/call.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"
#include "tests/support/walked.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>

using namespace libperm;
using perm::families::Entries;
using subset_cases::Exact;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x6f6e6573); }

SubsetPlan by_twos(SubsetPlan plan) {
    plan.kernel.tree.derivative = true;
    plan.tolerance = std::max(plan.tolerance, 1e-12);
    write_programs(plan.kernel.tree);
    return plan;
}

// Rows of very different sizes, zeros that are stored, row sums that are 0, entries of one sign or of both.
perm::Csr any_matrix(std::int64_t n, bool &is_wide, Random &random) {
    perm::Csr a = trees::matrix(n, static_cast<Entries>(random.integer(0, 4)), random);
    const auto every_entry = [&](const auto &change) {
        for (double &x : a.values) x = change(x);
    };
    const std::int64_t kind = random.integer(0, 5);
    is_wide = kind < 3;
    switch (kind) {
    case 0:
        every_entry([&](double x) { return std::ldexp(x, static_cast<int>(random.integer(-9, 9))); });
        break;
    case 1:
        every_entry(
            [&](double x) { return std::ldexp(x < 0 ? -1 : 1, static_cast<int>(random.integer(0, 2))); });
        break;
    case 2: // a few entries far below the others
        every_entry([&](double x) { return random.chance(0.1) ? x * 0x1p-50 : x; });
        break;
    case 3:
        a.values[at(random.integer(0, a.row_ptr.back() - 1))] = 0;
        break;
    default:
        break;
    }
    return a;
}

struct Case {
    SubsetPlan plan;
    Block block; // A or A^T, as the plan has it
    Exact truth;
    bool is_wide = false; // entries are far apart
};

Case any_case(std::int64_t n, Random &random) {
    bool is_wide = false;
    const perm::Csr a = any_matrix(n, is_wide, random);
    Case it{{}, trees::block_of(a), oracle::by_frontier(a), is_wide};
    it.plan = by_twos(random.chance(0.4) ? trees::planned(it.block.pattern, random.bits())
                                         : trees::any_plan(it.block.pattern, 4, random));
    if (it.plan.transposed) it.block = transposed(it.block);
    return it;
}

bool same(const Partial3 &x, const Partial3 &y) {
    return std::bit_cast<std::array<std::uint64_t, 3>>(x) == std::bit_cast<std::array<std::uint64_t, 3>>(y);
}

} // namespace

TEST_CASE("permanents are within their bounds") {
    Random random(test_seed());
    int divided = 0, exact = 0, others = 0, refined = 0;
    for (int k = 0; k < run::cases(400); ++k) {
        CAPTURE(k);
        const Case it = any_case(k < 20 ? 2 + k % 4 : random.integer(3, 11), random);
        const auto by_ones = divided_by_ones(it.plan, it.block);
        const Outcome outcome = outcome_of(run_subset_sum(it.plan, it.block, {{}, true}));
        subset_cases::check(outcome, it.truth);
        divided += by_ones.has_value();
        exact += outcome.exact;
        refined += by_ones && it.plan.most_refined == 1;
        others += !by_ones;
        const Outcome plain = outcome_of(run_subset_sum(without_derivative(it.plan), it.block, {{}, true}));
        if (!it.is_wide) CHECK(!(outcome.rel_error_bound > 1e3 * plain.rel_error_bound + 1e-11));
        if (plain.exact) CHECK(outcome.exact);
    }
    CHECK(divided > run::enough(100));
    CHECK(exact > run::enough(20));
    CHECK(others > run::enough(20));
    CHECK(refined > run::enough(20));
}

TEST_CASE("on the host, kernels give the bits of the interpreter") {
    Random random(test_seed() + 1);
    std::vector<Case> cases;
    std::vector<KernelRecipe> recipes;
    for (int k = 0; k < run::cases(12); ++k) {
        cases.push_back(any_case(random.integer(7, 11), random));
        recipes.push_back(subsets_kernel(cases.back().plan.kernel));
    }
    HostQueue queue;
    if (!subset_cases::compiled(queue, recipes)) return;
    std::size_t compared = 0, derivatives = 0, chosen = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        CAPTURE(k);
        const auto &[plan, block, truth, is_wide] = cases[k];
        const SubsetKernel &kernel = plan.kernel;
        if (const auto divided = divided_by_ones(plan, block)) {
            queue.load(recipes[k]);
            const FixedPointDouble values(divided->plan, divided->block);
            const TreeWalk walk(kernel.tree, values.numbers());
            const std::uint64_t segments = std::uint64_t{1} << (kernel.n - 1 - kernel.segment_bits);
            const std::vector<Partial3> printed =
                walked<number::Real<double>>(queue, plan, values.numbers(), {0, segments, 1, 0});
            for (std::size_t s = 0; s < printed.size(); s += TreeWalk::lanes) {
                std::array<Partial3, TreeWalk::lanes> interpreted;
                const std::size_t count = std::min<std::size_t>(TreeWalk::lanes, printed.size() - s);
                walk.run(s, std::span(interpreted).first(count));
                CHECK(std::equal(interpreted.begin(),
                                 interpreted.begin() + static_cast<std::ptrdiff_t>(count),
                                 printed.begin() + static_cast<std::ptrdiff_t>(s), same));
                compared += count;
            }
            derivatives += derivative_columns(kernel.tree).size();
        }
        const subset_cases::Played played = subset_cases::any_device(plan, random);
        queue.device = played.device;
        const SegmentWatch watch(queue, random.bits());
        const Outcome on_host = subset_cases::run_on(queue, plan, block, played.seconds);
        CHECK(queue.is_whole());
        chosen += watch.chosen().size();
        CHECK(subset_cases::same_bits(on_host, outcome_of(run_subset_sum(plan, block, {{}, true}))));
        subset_cases::check(on_host, truth);
    }
    CHECK(compared > static_cast<std::size_t>(run::enough(50)));
    CHECK(derivatives > 0);
    if (!run::sanitized) CHECK(chosen > 0); // of few cases maybe none
}

TEST_CASE("the bound holds all products of all rows but one") {
    // Of one segment of all subsets, each a leaf of the lowest column alone, and its loops.
    Random random(test_seed() + 2);
    int compared = 0;
    for (int k = 0; k < run::cases(60); ++k) {
        CAPTURE(k);
        const std::int64_t n = random.integer(3, 9);
        perm::Csr a =
            perm::families::erdos_renyi(n, 1, static_cast<Entries>(random.integer(0, 2)), random.bits());
        if (random.chance(0.5)) // sums of 0
            for (double &x : a.values) x = random.chance(0.5) ? 1 : -1;
        const Block block = trees::block_of(a);
        std::vector<std::int32_t> place(at(n));
        std::iota(place.begin(), place.end(), 0);
        TreePart root;
        root.loop = static_cast<std::int32_t>(random.integer(1, std::min<std::int64_t>(n - 1, 4)));
        root.end = static_cast<std::int32_t>(n - 1);
        const SubsetPlan plan = by_twos(trees::plan_with(block.pattern, place, root, root.end));
        const auto divided = divided_by_ones(plan, block);
        if (!divided) continue;
        const std::vector<double> numbers = FixedPointDouble(divided->plan, divided->block).numbers();
        Partial3 sum;
        TreeWalk(plan.kernel.tree, numbers).run(0, std::span(&sum, 1));
        double all = 0;
        for (std::uint64_t set = 0; set < std::uint64_t{1} << (n - 1); set += 2) { // without column 0
            std::vector<double> x(numbers.begin(), numbers.begin() + n);
            for (std::int64_t j = 1; j + 1 < n; ++j)
                for (std::int64_t i = 0; i < n; ++i)
                    if (set >> j & 1) x[at(i)] += numbers[at(n + j * n + i)];
            for (std::int64_t out = 0; out < n; ++out) {
                double term = 1;
                for (std::int64_t i = 0; i < n; ++i) term *= i == out ? 1 : std::fabs(x[at(i)]);
                all += term;
            }
        }
        CHECK(sum.absolute >= all * (1 - 1e-12));
        CHECK(sum.absolute <= 40 * all);
        ++compared;
    }
    CHECK(compared > run::enough(30));
}

TEST_CASE("of dense matrices it is what is planned for a GPU, and fewer operations") {
    const Block block = trees::block_of(perm::families::constant(14, 0.5));
    const SubsetPlan plain = trees::planned(block.pattern, 1), twos = with_derivative(plain);
    CHECK(twos.kernel.tree.derivative);
    CHECK(twos.flops_per_subset < 0.85 * plain.flops_per_subset);
    CHECK(twos.subsets == plain.subsets);
    CHECK(key_of(twos.kernel) != key_of(plain.kernel));
    CHECK(key_of(without_derivative(twos).kernel) == key_of(plain.kernel));
}
