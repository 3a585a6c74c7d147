// How long searches for orders are, and that their outcome follows from what they are given alone.
#include "lib/base/threads.hpp"
#include "lib/input/options.hpp"
#include "lib/plan/block_plan.hpp"
#include "lib/run/call.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/frontier_order.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <utility>

using namespace libperm;
using perm::families::Entries;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x62756467); }

Pattern random_pattern(std::int64_t n, double density, Random &random) {
    return trees::block_of(perm::families::erdos_renyi(n, density, Entries::ones, random.bits())).pattern;
}

FrontierOrder order_of(const Pattern &a, const SearchBudget &budget, std::uint64_t seed, int threads) {
    FrontierOrderOptions options;
    options.seed = seed;
    options.budget = budget;
    FrontierOrder order;
    with_threads(threads, [&] { order = find_frontier_order(frontier_sides(a, {}), options); });
    return order;
}

struct SearchedBranches {
    std::optional<FoundBranches> found;
    double work; // seconds, as they are counted
};

SearchedBranches branches_of(const Pattern &a, BranchSearchOptions options, int threads) {
    SearchedBranches searched;
    std::atomic<std::int64_t> polls = 0;
    const PolledBy counted([&polls] { ++polls; });
    with_threads(threads, [&] { searched.found = find_branches(a, options); });
    searched.work = 1e-9 * PolledSteps::between * static_cast<double>(polls);
    return searched;
}

bool same_leaf(const BranchLeaf &x, const BranchLeaf &y) {
    return x.kind == y.kind && x.index == y.index && x.entry == y.entry;
}

} // namespace

TEST_CASE("budget: it grows with the run, is a part of a short one") {
    const SearchBudget budget;
    double before = 0;
    for (double run = 1e-6; run < 1e6; run *= 1.7) {
        const double worth = budget.of(run);
        CHECK(worth >= before);
        CHECK(worth <= SearchBudget::of_short * run);
        CHECK(worth <= std::max(budget.least, budget.share * run));
        CHECK(worth >= std::min(SearchBudget::of_short * run, budget.least));
        before = worth;
    }
    CHECK(before >= 1e3);
    SearchBudget rough = budget;
    rough.effort = 0.1;
    CHECK(rough.of(100) == doctest::Approx(0.1 * budget.of(100)));

    SearchBudget begun = budget; // beside the start of a device
    begun.start = 0.4;
    CHECK(begun.of(0.001) == doctest::Approx(SearchBudget::of_start * 0.001));
    CHECK(begun.of(1) == begun.start);
    CHECK(begun.of(100) == budget.of(100));
}

TEST_CASE("frontier: no budget leaves the first order, a budget none that is worse, any threads the same") {
    Random random(test_seed());
    int better = 0;
    for (int k = 0; k < run::cases(10); ++k) {
        CAPTURE(k);
        const Pattern a = random_pattern(random.integer(18, 30), random.uniform(0.2, 0.4), random);
        const std::uint64_t seed = random.bits() >> 8;
        const SearchBudget none{0, 0, 1};
        const FrontierOrder first = order_of(a, none, seed, 1), more = order_of(a, {}, seed, 1),
                            again = order_of(a, {}, seed, 2 + k % 3);
        REQUIRE(first.feasible);
        std::vector<std::int32_t> rows = first.rows;
        std::ranges::sort(rows);
        for (std::int32_t i = 0; i < a.rows; ++i) CHECK(rows[trees::at(i)] == i);
        CHECK(more.seconds <= first.seconds);
        CHECK(again.rows == more.rows);
        CHECK(again.transposed == more.transposed);
        better += more.seconds < 0.999 * first.seconds;
    }
    CHECK(better > 0);
}

TEST_CASE("frontier: a search that will not come up with another way ends sooner, if it may") {
    Random random(test_seed() + 3);
    int sooner = 0;
    for (int k = 0; k < run::cases(6); ++k) {
        CAPTURE(k);
        const Pattern a = random_pattern(random.integer(26, 34), random.uniform(0.25, 0.4), random);
        std::atomic<std::int64_t> polls = 0;
        FrontierOrderOptions options;
        options.seed = random.bits() >> 8;
        options.budget = {1e9, 1e-3, 0.02}; // 60 ms of work
        const PolledBy counted([&polls] { ++polls; });
        const auto search = [&](double other_seconds, bool may_fall_behind) {
            options.other_seconds = other_seconds;
            options.may_fall_behind = may_fall_behind;
            polls = 0;
            FrontierOrder order;
            with_threads(1, [&] { order = find_frontier_order(frontier_sides(a, {}), options); });
            return std::pair(order, polls.load());
        };
        const auto [alone, all] = search(1e300, false);
        CHECK(search(1e300, true).first.rows == alone.rows);
        const auto [left, some] = search(alone.seconds / 4, true);
        CHECK(left.seconds >= alone.seconds);
        CHECK(some <= all);
        CHECK(search(alone.seconds / 4, false).second >= some);
        sooner += 2 * some < all;
    }
    CHECK(sooner > run::enough(3));
}

TEST_CASE("branches: any number of threads finds the same tree, a small budget none that is better") {
    Random random(test_seed() + 2);
    int compared = 0;
    double by_more = 0, by_less = 0; // log2 of seconds
    for (int k = 0; k < run::cases(8); ++k) {
        CAPTURE(k);
        const Pattern a = trees::block_of(perm::families::permutation_plus(
                                              random.integer(30, run::sanitized ? 60 : 150),
                                              random.integer(1, 3), Entries::ones, random.bits()))
                              .pattern;
        BranchSearchOptions options;
        options.seed = random.bits() >> 8;
        const auto more = branches_of(a, options, 1).found, again = branches_of(a, options, 2 + k % 3).found;
        options.budget = {0, 2e-3, 1};
        const auto less = branches_of(a, options, 1).found;
        REQUIRE(again.has_value() == more.has_value());
        if (!more || !less) continue; // not to be reached
        ++compared;
        by_more += std::log2(more->seconds);
        by_less += std::log2(less->seconds);
        CHECK(again->seconds == more->seconds);
        CHECK(again->tree.joins == more->tree.joins);
        CHECK(std::ranges::equal(again->tree.leaves, more->tree.leaves, same_leaf));
    }
    CHECK(compared > run::enough(5));
    CHECK(by_more <= by_less);
}

TEST_CASE("branches: behind another way the search takes its budget, nearly as good as it six times that") {
    const Pattern a = trees::block_of(perm::families::mesh2d(12, 12, Entries::ones, 1)).pattern;
    const double best = branches_of(a, {}, 2).found.value().seconds;
    double before = 0;
    for (const double least : {0.01, 0.04, 0.16}) {
        CAPTURE(least);
        BranchSearchOptions options;
        options.other_seconds = best / 2;
        options.budget = {0, least, 1};
        const SearchedBranches searched = branches_of(a, options, 2);
        REQUIRE(searched.found.has_value());
        constexpr double round = 1.5; // the last one may be begun within, and trees are counted once more
        CHECK(searched.work <= 6 * round * options.budget.of(options.other_seconds));
        CHECK(searched.work > before);
        before = searched.work;
    }
}

TEST_CASE("of a run that will be refused a search takes what it may, and no less of another") {
    const Pattern a = trees::block_of(perm::families::mesh2d(14, 14, Entries::ones, 1)).pattern;
    SearchBudget refused{1, 1, 1}; // seconds
    refused.limit = 0;
    refused.of_refused = 0.05;
    SearchBudget within = refused;
    within.limit = 1e299;
    CHECK(refused.most(1) == refused.of_refused);
    CHECK(within.most(1) > 1e299);
    BranchSearchOptions on_tree;
    on_tree.budget = refused;
    const double less = branches_of(a, on_tree, 2).work;
    on_tree.budget = within;
    const double more = branches_of(a, on_tree, 2).work;
    CHECK(less <= 1.5 * refused.of_refused);
    CHECK(more > 4 * less);

    std::atomic<std::int64_t> polls = 0;
    FrontierOrderOptions of_rows;
    const PolledBy counted([&polls] { ++polls; });
    const auto polls_with = [&](const SearchBudget &budget) {
        of_rows.budget = budget;
        polls = 0;
        with_threads(2, [&] { find_frontier_order(frontier_sides(a, {}), of_rows); });
        return polls.load();
    };
    const std::int64_t few = polls_with(refused);
    CHECK(polls_with(within) > 2 * few);
}

TEST_CASE("blocks: any number of threads makes the same plan") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int k = 0; k < run::cases(6); ++k) {
        CAPTURE(k);
        const Pattern a = random_pattern(random.integer(24, 34), random.uniform(0.2, 0.6), random);
        const auto plan_on = [&](int threads) {
            Options options = read_options(nullptr);
            options.threads = threads;
            options.device = Device::cpu;
            BlockPlan plan;
            with_threads(threads, [&] { plan = plan_block(a, {}, {true, true, {}, 0}, options); });
            return plan;
        };
        const BlockPlan one = plan_on(1), four = plan_on(4);
        REQUIRE(one.candidates.size() == four.candidates.size());
        CHECK(one.chosen == four.chosen);
        for (std::size_t c = 0; c < one.candidates.size(); ++c, ++compared) {
            CHECK(name_of(one.candidates[c]) == name_of(four.candidates[c]));
            CHECK(one.candidates[c].transposed == four.candidates[c].transposed);
            CHECK(one.candidates[c].cost.serial_seconds == four.candidates[c].cost.serial_seconds);
        }
    }
    CHECK(compared > run::enough(12));
}
