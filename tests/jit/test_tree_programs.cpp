// The tree engine on a CPU against exact permanents: trees as they are planned, and of any shape.
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

using namespace libperm;
using oracle::Exact;
using perm::families::Entries;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x7470726f); }

Exact permanent(const perm::Csr &a) {
    return a.n_rows <= 6 ? oracle::by_definition(a) : oracle::by_frontier(a);
}

// Whole numbers, so small that no sum of terms needs more than a double.
bool must_be_exact(const Block &block) {
    double bits = block.n() - 1;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        double sum = 0;
        for (std::size_t of_row = 0; of_row < block.pattern.row(i).size(); ++of_row, ++k) {
            const Exact x = exactly(block.values[k]);
            if (x.get_den() != 1) return false;
            sum += std::fabs(x.get_d());
        }
        bits += std::floor(std::log2(std::max(sum, 1.0))) + 1;
    }
    return bits <= 53;
}

struct Tally {
    int compared = 0, nonzero = 0, exact = 0, close = 0, parts = 0, nested = 0, looped = 0;

    void book_shape(const TreePart &part, int depth = 0) {
        parts += part.parts.size() > 1;
        nested += depth > 0 && part.parts.size() > 1;
        looped += depth > 0 && part.loop < part.end;
        for (const TreePart &p : part.parts) book_shape(p, depth + 1);
    }
};

Outcome outcome_of(const SubsetPlan &plan, const Block &block) {
    return libperm::outcome_of(run_subset_sum(plan, plan.transposed ? transposed(block) : block, {{}, true}));
}

void check_plan(const SubsetPlan &plan, const Block &block, const Exact &truth, Tally &tally) {
    CAPTURE(plan.kernel.n);
    CAPTURE(plan.kernel.segment_bits);
    CAPTURE(plan.kernel.unrolled);
    CAPTURE(plan.tolerance);
    CAPTURE(plan.most_refined);
    const Outcome outcome = outcome_of(plan, block);
    REQUIRE(std::isfinite(outcome.value.mantissa));
    const Exact error = abs(exactly(outcome.value) - truth);
    if (std::isfinite(outcome.error.mantissa)) CHECK(error <= exactly(outcome.error));
    if (std::isfinite(outcome.rel_error_bound)) CHECK(error <= Exact(outcome.rel_error_bound) * abs(truth));
    if (outcome.exact) CHECK(error == 0);
    if (must_be_exact(block)) {
        CHECK(outcome.exact);
        ++tally.exact;
    }
    ++tally.compared;
    tally.nonzero += truth != 0;
    tally.close += truth != 0 && outcome.rel_error_bound < 1e-9;
    tally.book_shape(plan.kernel.tree.root);
}

perm::Csr any_matrix(std::int64_t n, Random &random) {
    perm::Csr a = trees::matrix(n, static_cast<Entries>(random.integer(0, 4)), random);
    if (random.chance(0.15)) a.values[at(random.integer(0, a.row_ptr.back() - 1))] = 0; // stored all the same
    return a;
}

} // namespace

TEST_CASE("planned trees give the permanent of the definition") {
    Random random(test_seed());
    Tally tally;
    for (int k = 0; k < run::cases(2000); ++k) {
        CAPTURE(k);
        const perm::Csr a = any_matrix(random.integer(1, 9), random);
        const Block block = trees::block_of(a);
        check_plan(trees::planned(block.pattern, random.bits()), block, permanent(a), tally);
    }
    CHECK(tally.compared == run::cases(2000));
    CHECK(tally.nonzero > tally.compared / 2);
    CHECK(tally.exact > tally.compared / 10);
    CHECK(tally.close > tally.nonzero / 2);
}

TEST_CASE("trees of any shape and order do too") {
    Random random(test_seed() + 1);
    Tally tally;
    for (int k = 0; k < run::cases(4000); ++k) {
        CAPTURE(k);
        const perm::Csr a = any_matrix(random.integer(1, 9), random);
        const Block block = trees::block_of(a);
        const auto most_code = static_cast<std::int32_t>(random.integer(1, 5));
        check_plan(trees::any_plan(block.pattern, most_code, random), block, permanent(a), tally);
    }
    CHECK(tally.nonzero > tally.compared / 2);
    CHECK(tally.exact > tally.compared / 10);
    CHECK(tally.close > tally.nonzero / 2);
    CHECK(tally.parts > tally.compared / 8);
    CHECK(tally.nested > tally.compared / 200);
    CHECK(tally.looped > tally.compared / 4);
}

TEST_CASE("larger ones, planned and of any shape") {
    Random random(test_seed() + 2);
    Tally tally;
    for (int k = 0; k < run::cases(60); ++k) {
        CAPTURE(k);
        const perm::Csr a = any_matrix(random.integer(10, 15), random);
        const Block block = trees::block_of(a);
        const Exact truth = permanent(a);
        check_plan(trees::planned(block.pattern, random.bits()), block, truth, tally);
        check_plan(trees::any_plan(block.pattern, 5, random), block, truth, tally);
    }
    CHECK(tally.nonzero > tally.compared / 2);
    CHECK(tally.close > tally.nonzero / 2);
    CHECK(tally.parts > tally.compared / 8);
}

TEST_CASE("signed values that cancel, far apart in size") {
    Random random(test_seed() + 3);
    Tally tally;
    for (int k = 0; k < run::cases(500); ++k) {
        CAPTURE(k);
        const perm::Csr a = any_matrix(random.integer(2, 8), random);
        Block block = trees::block_of(a);
        const int spread = k % 2 == 0 ? 20 : 400;
        for (Tracked &x : block.values) x.exp2 += random.integer(-spread, spread);
        // Column sets, row by row: the values need not fit a double.
        std::vector<Exact> ways(std::size_t{1} << block.n());
        ways[0] = 1;
        for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
            const auto i = static_cast<std::int32_t>(std::popcount(set));
            std::size_t e = at(block.pattern.row_begin(i));
            for (const std::int32_t j : block.pattern.row(i)) {
                if (!(set >> j & 1)) ways[set | std::size_t{1} << j] += ways[set] * exactly(block.values[e]);
                ++e;
            }
        }
        check_plan(random.chance(0.3) ? trees::planned(block.pattern, random.bits())
                                      : trees::any_plan(block.pattern, 6, random),
                   block, ways.back(), tally);
    }
    CHECK(tally.nonzero > tally.compared / 2);
    CHECK(tally.close > tally.compared / 20);
}
