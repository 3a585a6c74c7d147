// What preprocess/ promises, seen from inside.
#include "bench/families.hpp"
#include "preprocess/frontier_states.hpp"
#include "preprocess/frontier_steps.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <oneapi/tbb/task_arena.h>
#include <set>

using namespace libperm;
namespace families = perm::families;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The largest set of rows that can be matched, by trying every assignment row by row.
int structural_rank(const Pattern &a, std::int32_t row, std::set<std::int32_t> &taken) {
    if (row == a.rows) return 0;
    int best = structural_rank(a, row + 1, taken);
    for (const std::int32_t j : a.row(row))
        if (taken.insert(j).second) {
            best = std::max(best, 1 + structural_rank(a, row + 1, taken));
            taken.erase(j);
        }
    return best;
}

std::uint64_t test_seed() { return run::seed(0x70726570); }

} // namespace

TEST_CASE("a transpose knows where its entries came from, and is undone by another") {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 20; ++seed) {
        const Pattern a = pattern_of(families::erdos_renyi(12, 0.3, families::Entries::ones, seed));
        const Transposed t = transpose(a);
        const Transposed back = transpose(t.pattern);
        CHECK(back.pattern.col == a.col);
        CHECK(back.pattern.row_ptr == a.row_ptr);
        for (std::size_t k = 0; k < a.col.size(); ++k)
            CHECK(t.source[at(back.source[k])] == static_cast<std::int64_t>(k));
    }
}

TEST_CASE("a maximum matching is a matching, and none is larger") {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 300; ++seed) {
        CAPTURE(seed);
        const double density = 0.05 + 0.1 * static_cast<double>(seed % 5);
        const Pattern a = pattern_of(families::erdos_renyi(7, density, families::Entries::ones, seed));
        const Matching m = maximum_matching(a);
        std::int32_t matched = 0;
        for (std::int32_t i = 0; i < a.rows; ++i) {
            const std::int32_t j = m.col_of_row[at(i)];
            if (j < 0) continue;
            ++matched;
            CHECK(m.row_of_col[at(j)] == i);
            CHECK(std::binary_search(a.row(i).begin(), a.row(i).end(), j));
        }
        CHECK(matched == m.size);
        std::set<std::int32_t> taken;
        CHECK(m.size == structural_rank(a, 0, taken));
    }
}

TEST_CASE("a matching of a long chain needs no call stack") {
    const std::int32_t n = 300000; // bidiagonal, rows in an order that makes one augmenting path of length n
    Pattern a;
    a.rows = a.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        if (i + 1 < n) {
            a.col.push_back(i);
            a.col.push_back(i + 1);
        } else {
            a.col.push_back(0);
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
    }
    CHECK(maximum_matching(a).size == n);
}

TEST_CASE("scaling makes every entry less than 1 and a perfect matching at least 1/2") {
    families::Random random(test_seed());
    for (int trial = 0; trial < 100; ++trial) {
        perm::Csr a = families::permutation_plus(9, 3, families::Entries::real, random.bits());
        for (double &x : a.values) x = std::ldexp(x, static_cast<int>(random.integer(-900, 900)));
        const Pattern p = pattern_of(a);
        Block block{p, {}};
        for (const double x : a.values) block.values.push_back(tracked(x));
        const PowerScaling s = power_scaling(block);
        perm::Csr large = a; // the scaled entries of at least 1/2
        large.row_ptr.assign(1, 0);
        large.col_idx.clear();
        for (std::int32_t i = 0; i < p.rows; ++i) {
            std::int64_t k = p.row_begin(i);
            for (const std::int32_t j : p.row(i)) {
                int exponent = 0;
                std::frexp(a.values[at(k++)], &exponent);
                exponent += static_cast<int>(s.row[at(i)] + s.col[at(j)]);
                CHECK(exponent <= 0);
                if (exponent == 0) large.col_idx.push_back(j);
            }
            large.row_ptr.push_back(static_cast<std::int64_t>(large.col_idx.size()));
        }
        large.pattern = true;
        CHECK(maximum_matching(pattern_of(large)).size == p.rows);
        const auto sum = [](const auto &v) { return std::accumulate(v.begin(), v.end(), std::int64_t{0}); };
        CHECK(s.total == sum(s.row) + sum(s.col));
    }
}

TEST_CASE("the order found is a permutation, and the same on any number of threads") {
    const Pattern a = pattern_of(families::erdos_renyi(26, 0.25, families::Entries::ones, test_seed()));
    const auto sides = frontier_sides(a, {});
    FrontierOrderOptions options;
    options.sparse = options.dense = {1e-8, 1e-8};
    FrontierOrder first;
    for (const int threads : {1, 2, 3}) {
        FrontierOrder order;
        oneapi::tbb::task_arena(threads).execute([&] { order = find_frontier_order(sides, options); });
        std::vector<std::int32_t> sorted = order.rows;
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::int32_t> all(26);
        std::iota(all.begin(), all.end(), 0);
        CHECK(sorted == all);
        if (threads == 1) first = order;
        CHECK(order.rows == first.rows);
        CHECK(order.transposed == first.transposed);
    }
}

TEST_CASE("a frontier restored from a snapshot goes on as it went") {
    const Pattern a = pattern_of(families::erdos_renyi(20, 0.2, families::Entries::ones, test_seed()));
    const FrontierSide side = frontier_sides(a, {}).front();
    const Log2Binomial log2_binomial(20);
    FrontierState straight(side, log2_binomial), returned(side, log2_binomial);
    FrontierState::Snapshot middle;
    for (std::int32_t i = 0; i < 10; ++i) {
        straight.advance(i);
        returned.advance(i);
    }
    returned.save(middle);
    for (std::int32_t i = 19; i > 9; --i) returned.advance(i);
    CHECK(returned.open().empty());
    returned.restore(middle);
    for (std::int32_t i = 10; i < 20; ++i) {
        CHECK(straight.advance(i).log2_states_after ==
              doctest::Approx(returned.advance(i).log2_states_after));
        CHECK(straight.open().size() == returned.open().size());
    }
}

TEST_CASE("the steps of a program open and close every column once, and never share a slot") {
    for (std::uint64_t seed = test_seed(); seed < test_seed() + 30; ++seed) {
        const Pattern a = pattern_of(families::permutation_plus(18, 2, families::Entries::ones, seed));
        const auto sides = frontier_sides(a, {});
        const FrontierOrder order = find_frontier_order(sides, {});
        const FrontierProgram program = build_frontier_program(sides[order.transposed ? 1 : 0], order);
        std::set<std::int32_t> taken;
        std::set<std::int64_t> entries;
        int opened = 0, closed = 0;
        for (const FrontierStep &step : program.steps) {
            CHECK(step.width_before == static_cast<std::int32_t>(taken.size()));
            for (const FrontierTerm &term : step.terms) {
                CHECK(entries.insert(term.entry).second);
                CHECK(term.slot < program.slots);
                if (term.opens) CHECK(taken.insert(term.slot).second);
                opened += term.opens;
            }
            for (const FrontierTerm &term : step.terms)
                if (term.closes) {
                    CHECK(taken.erase(term.slot) == 1);
                    ++closed;
                }
            CHECK(step.width_after == static_cast<std::int32_t>(taken.size()));
        }
        CHECK(opened == 18);
        CHECK(closed == 18);
        CHECK(entries.size() == a.col.size());
    }
}
