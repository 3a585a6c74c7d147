// Compression of matrices with hubs: the permanent stays, exactly, and the work is nearly that of reading
// them, counted in polls.
#include "lib/input/matrix.hpp"
#include "preprocess/compression.hpp"
#include "preprocess/decompose.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/frontier_order.hpp"
#include "preprocess/frontier_steps.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/hubs.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <type_traits>
#include <utility>

using namespace libperm;
using perm::families::Random;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x68756273); }

perm::Csr sample(Random &random) {
    const auto value = [&random] { return static_cast<double>(random.integer(-3, 4)); }; // 0 among them
    const std::int64_t n = random.integer(2, 10);
    const auto made = [&] {
        switch (random.integer(0, 4)) {
        case 0:
            return hubs::arrow(n, value);
        case 1:
            return hubs::attached(n, random.integer(1, std::min<std::int64_t>(n, 3)), value);
        case 2:
            return hubs::caterpillar(n, value);
        case 3:
            return hubs::hessenberg(n, n, value);
        default:
            return hubs::hessenberg(n, random.integer(0, 3), value);
        }
    };
    const perm::Csr a = families::permute(made(), random.permutation(n), random.permutation(n));
    return random.chance(0.5) ? families::transpose(a) : a;
}

template <class Value> BlockOf<Value> block_of(const perm::Csr &a, Random &random, bool complex) {
    const perm_csr view = a.view();
    BlockOf<Value> block{read_pattern(&view).pattern, {}};
    for (const double x : a.values)
        if constexpr (std::is_same_v<Value, Tracked>)
            block.values.push_back(tracked(x));
        else
            block.values.push_back({mpq_class(x), complex
                                                      ? mpq_class(static_cast<int>(random.integer(-2, 2)), 3)
                                                      : mpq_class(0)});
    return block;
}

const Gaussian &exactly(const Gaussian &x) { return x; }
Gaussian exactly(const Tracked &x) {
    REQUIRE(x.roundings == 0);
    return {shifted(mpq_class(x.value), x.exp2), 0};
}

template <class Value> Gaussian permanent(const BlockOf<Value> &block) {
    const auto n = static_cast<std::size_t>(block.n());
    oracle::GaussianMatrix a(n, std::vector<Gaussian>(n));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i))
            a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = exactly(block.values[k++]);
    return oracle::by_subsets(a);
}

template <class Value> int check_compressed(const BlockOf<Value> &block, const CompressionRule &rule) {
    const Compression<Value> done = compress(block, rule);
    const Gaussian expected = permanent(block);
    if (done.is_zero) {
        CHECK(is_zero(expected));
        return 1;
    }
    const Pattern &left = done.part.block.pattern;
    CHECK(left.rows == left.cols);
    for (std::int32_t i = 0; i < left.rows; ++i)
        CHECK(std::is_sorted(left.row(i).begin(), left.row(i).end()));
    CHECK(exactly(done.part.factor) * permanent(done.part.block) == expected);
    return done.degree_1 + done.degree_2 > 0 ? 1 : 0;
}

struct Polls {
    std::atomic<std::int64_t> count = 0; // by several threads
    const PolledBy counted{[this] { ++count; }};

    // Since the last call.
    double steps() { return static_cast<double>(count.exchange(0) * PolledSteps::between); }
};

Block large_block(const perm::Csr &a) {
    Random none(1);
    return block_of<Tracked>(a, none, false);
}

} // namespace

TEST_CASE("hubs: compression leaves the permanent as it is, in doubles and exactly, whatever the values") {
    Random random(test_seed());
    int reduced = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const perm::Csr a = sample(random);
        const CompressionRule rule{random.chance(0.8), random.chance(0.8)};
        reduced += check_compressed(block_of<Tracked>(a, random, false), rule);
        reduced += check_compressed(block_of<Gaussian>(a, random, random.chance(0.7)), rule);
    }
    CHECK(reduced > run::enough(400));
}

TEST_CASE("hubs: lists long enough to be hashed come to the same") {
    Random random(test_seed());
    for (int trial = 0; trial < run::cases(10); ++trial) {
        CAPTURE(trial);
        const std::int64_t n = random.integer(100, 400), count = random.integer(2, 4);
        const auto ones = [] { return 1.0; };
        const perm::Csr a =
            families::permute(hubs::attached(n, count, ones), random.permutation(n), random.permutation(n));
        const Compression<Tracked> done = compress(large_block(a), {});
        REQUIRE(!done.is_zero);
        // What is left of all others, once they are merged into the hubs: how many each had, and its own.
        oracle::GaussianMatrix expected(hubs::at(count), std::vector<Gaussian>(hubs::at(count)));
        for (auto &row : expected)
            for (std::int64_t h = 0; h < count; ++h)
                row[hubs::at(h)] = {mpq_class(1 + static_cast<int>((n - 1 - h) / count)), 0};
        CHECK(exactly(done.part.factor) * permanent(done.part.block) == oracle::by_subsets(expected));
    }
}

TEST_CASE("hubs: compression takes few steps for each entry") {
    const std::int64_t n = run::sanitized ? 20000 : 100000;
    const auto one = [] { return 1.0; };
    const std::int64_t full = run::sanitized ? 300 : 1000;
    for (const perm::Csr &a : {hubs::arrow(n, one), hubs::attached(n, 6, one), hubs::caterpillar(n, one),
                               hubs::hessenberg(n, 6, one), hubs::hessenberg(full, 2 * full, one)}) {
        CAPTURE(a.n_rows);
        CAPTURE(a.col_idx.size());
        Polls polls;
        const auto nnz = static_cast<double>(a.col_idx.size());
        const Compression<Tracked> done = compress(large_block(a), {});
        const double steps = polls.steps();
        CHECK(steps > nnz);
        CHECK(steps < 4 * nnz * std::log2(nnz));
        CHECK(done.part.block.n() <= 6);
    }
}

TEST_CASE(
    "hubs: an order of a band with full columns is found without comparing every row with every other") {
    const std::int64_t n = 20000;
    hubs::Rows rows(hubs::at(n));
    for (std::int64_t i = 0; i < n; ++i)
        for (const std::int64_t j : {i - 1, i, i + 1, std::int64_t{0}, n / 2})
            if (0 <= j && j < n) rows[hubs::at(i)].emplace_back(j, 1.0);
    const auto sides = frontier_sides(large_block(hubs::matrix_of(std::move(rows))).pattern, {});
    std::atomic<std::int64_t> asked = 0; // by several threads
    FrontierOrderOptions search;
    const PolledBy counted([&asked] { ++asked; });
    search.budget.share = search.budget.least = 0;
    const FrontierOrder order = find_frontier_order({sides[0], sides[0]}, search);
    REQUIRE(order.feasible);
    CHECK(asked > 0);
    CHECK(static_cast<double>(asked * PolledSteps::between) < 4000.0 * static_cast<double>(n));
}

TEST_CASE(
    "hubs: a row and a column with more entries than a state has columns rule every order out at once") {
    const std::int64_t n = 20000;
    const auto search_of = [&](bool rows_too) {
        hubs::Rows rows(hubs::at(n));
        for (std::int64_t i = 0; i < n; ++i) {
            rows[hubs::at(i)].emplace_back(i, 1.0);
            if (i != n / 2) rows[hubs::at(i)].emplace_back(n / 2, 1.0);
            if (rows_too && i != 7) rows[7].emplace_back(i, 1.0);
        }
        const auto sides = frontier_sides(large_block(hubs::matrix_of(std::move(rows))).pattern, {});
        std::atomic<std::int64_t> asked = 0;
        FrontierOrderOptions search;
        const PolledBy counted([&asked] { ++asked; });
        search.budget.share = search.budget.least = 0;
        const FrontierOrder order = find_frontier_order(sides, search);
        return std::pair(order, static_cast<double>(asked * PolledSteps::between));
    };
    const auto [none, steps] = search_of(true);
    CHECK_FALSE(none.feasible);
    CHECK(none.too_wide);
    CHECK(steps < 100.0 * static_cast<double>(n));
    const auto [some, more_steps] = search_of(false); // by the rows, of two entries each
    CHECK(some.feasible);
    CHECK_FALSE(some.too_wide);
    CHECK_FALSE(some.transposed);
    CHECK(more_steps > steps);
}

TEST_CASE("every pass over a large matrix polls") {
    const std::int64_t n = run::sanitized ? 30000 : 100000;
    const auto one = [] { return 1.0; };
    const Block block = large_block(hubs::attached(n, 6, one));
    const Pattern &a = block.pattern;
    const auto nnz = static_cast<double>(a.nnz());
    Polls polls;
    const Matching matching = maximum_matching(a);
    CHECK(polls.steps() > nnz / 2);
    (void)dulmage_mendelsohn(block, matching);
    CHECK(polls.steps() > nnz / 2);
    (void)transpose(a);
    CHECK(polls.steps() > nnz / 2);
    (void)transposed(block);
    CHECK(polls.steps() > nnz / 2);
    Block far = large_block(hubs::attached(n, 6, one));
    far.values.back().exp2 += 600;
    (void)scale(far);
    CHECK(polls.steps() > nnz / 2);
    const auto sides = frontier_sides(a, {});
    CHECK(polls.steps() > nnz / 2);
    FrontierOrderOptions search;
    search.budget.share = search.budget.least = 0;
    FrontierOrder order;
    const perm::Csr path = hubs::caterpillar(n, one);
    const auto path_sides = frontier_sides(large_block(path).pattern, {});
    (void)polls.steps();
    order = find_frontier_order(path_sides, search);
    REQUIRE(order.feasible);
    CHECK(polls.steps() > 16.0 * static_cast<double>(n));
    (void)build_frontier_program(path_sides[order.transposed ? 1 : 0], order);
    CHECK(polls.steps() > 16.0 * static_cast<double>(n));
}

TEST_CASE("a decomposition stops wherever it is asked to") {
    struct Stop {};
    const std::int64_t n = run::sanitized ? 20000 : 60000;
    const Block block = large_block(hubs::attached(n, 4, [] { return 1.0; }));
    std::int64_t polls = 0;
    for (std::int64_t allowed = 0;; allowed += std::max<std::int64_t>(1, allowed / 2)) {
        polls = 0;
        DecompositionRule<Tracked> rule;
        const PolledBy stopping([&] {
            if (++polls > allowed) throw Stop();
        });
        Decomposition<Tracked> decomposition(block, rule);
        StepOf<Tracked> step;
        try {
            while (decomposition.next(step)) {
            }
            break;
        } catch (const Stop &) {
            CHECK(polls == allowed + 1);
        }
    }
    CHECK(polls > 5);
}
