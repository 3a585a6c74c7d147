// Kinds of equal lines of a graph, against their definition, and what keeps them equal.
#include "bench/families.hpp"
#include "lib/number/block_grids.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/repeated_lines.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/repeated_graph.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace libperm;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x74776e); }

template <class Value> bool is_same(const Value &x, const Value &y) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return x.value == y.value && x.magnitude == y.magnitude && x.exp2 == y.exp2;
    else
        return x == y;
}

// By the definition: every pair of lines, and all others.
template <class Value> std::vector<std::int32_t> by_definition(const BlockOf<Value> &graph) {
    std::map<std::pair<std::int32_t, std::int32_t>, Value> entries;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            entries[{i, j}] = entries[{j, i}] = graph.values[k];
            ++k;
        }
    const auto same = [&](std::int32_t i, std::int32_t j, std::int32_t k1, std::int32_t k2) {
        const auto x = entries.find({i, j}), y = entries.find({k1, k2});
        if (x == entries.end() || y == entries.end()) return x == entries.end() && y == entries.end();
        return is_same(x->second, y->second);
    };
    std::vector<std::int32_t> lowest;
    for (std::int32_t j = 0; j < graph.n(); ++j) {
        lowest.push_back(j);
        for (std::int32_t i = 0; i < j && lowest.back() == j; ++i) {
            bool equal = same(i, i, j, j);
            for (std::int32_t other = 0; other < graph.n() && equal; ++other)
                equal = other == i || other == j || same(i, other, j, other);
            if (equal) lowest.back() = lowest[static_cast<std::size_t>(i)];
        }
    }
    return lowest;
}

bool repeats(const std::vector<std::int32_t> &lowest) {
    for (std::size_t i = 0; i < lowest.size(); ++i)
        if (lowest[i] != static_cast<std::int32_t>(i)) return true;
    return false;
}

template <class Value> bool agrees(const BlockOf<Value> &graph) {
    const std::vector<std::int32_t> truth = by_definition(graph);
    const LineClasses kinds = equal_lines(graph);
    CHECK(kinds.of_col.empty());
    CHECK(kinds.of_row == (repeats(truth) ? truth : std::vector<std::int32_t>()));
    CHECK(are_kinds_of_lines(graph.pattern, kinds.of_row));
    return repeats(truth);
}

Block doubles_of(const ExactBlock &block) {
    Block doubles{block.pattern, {}};
    for (const Gaussian &x : block.values) doubles.values.push_back(tracked(x.re.get_d()));
    return doubles;
}

// Some of these are equal by chance.
RepeatedGraph draw_graph(Random &random, std::int64_t exponents = 0) {
    std::vector<std::int64_t> times;
    for (std::int64_t k = random.integer(1, 5); k > 0; --k)
        times.push_back(random.chance(0.5) ? 1 : random.integer(1, 4));
    const std::int64_t most = random.integer(1, 4);
    return repeated_graph(times, random.uniform(0.3, 1), random.chance(0.5), random, [&]() -> Gaussian {
        const double by = std::ldexp(1.0, static_cast<int>(random.integer(-exponents, exponents)));
        return {mpq_class(static_cast<double>(random.integer(1, most)) * by), 0};
    });
}

} // namespace

TEST_CASE("kinds of lines are those of the definition") {
    Random random(test_seed());
    int repeated = 0, different = 0;
    for (int trial = 0; trial < run::cases(600); ++trial) {
        CAPTURE(trial);
        const ExactBlock graph = block_of(draw_graph(random));
        const bool some = agrees(graph);
        CHECK(some == agrees(doubles_of(graph)));
        ++(some ? repeated : different);
    }
    CHECK(repeated > run::enough(200));
    CHECK(different > run::enough(30));
}

TEST_CASE("one entry that differs is seen, be it by the last bit") {
    Random random(test_seed() + 1);
    int changed = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        ExactBlock graph = block_of(draw_graph(random));
        if (graph.values.empty()) continue;
        const auto k =
            static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(graph.values.size()) - 1));
        const std::vector<std::int32_t> before = equal_lines(graph).of_row;
        graph.values[k].re += mpq_class(std::ldexp(1.0, -50));
        agrees(graph);
        agrees(doubles_of(graph));
        changed += equal_lines(graph).of_row != before;
    }
    CHECK(changed > run::enough(50));
}

TEST_CASE("lists that name no kinds are seen") {
    const Pattern path{4, 4, {0, 1, 2, 3, 3}, {1, 2, 3}, true}; // 0 - 1 - 2 - 3
    CHECK(are_kinds_of_lines(path, {}));
    CHECK(are_kinds_of_lines(path, {0, 1, 2, 3}));
    CHECK(!are_kinds_of_lines(path, {0, 1, 0, 3}));
    CHECK(!are_kinds_of_lines(path, {0, 1, 2}));
    CHECK(!are_kinds_of_lines(path, {0, 1, 2, -1}));
    CHECK(!are_kinds_of_lines(path, {3, 1, 2, 3}));
    const Pattern triangle{3, 3, {0, 2, 3, 4}, {1, 2, 2, 2}, true}; // with a loop at 2
    CHECK(are_kinds_of_lines(triangle, {0, 0, 2}));
    CHECK(!are_kinds_of_lines(triangle, {0, 1, 1}));
    CHECK(!are_kinds_of_lines(triangle, {0, 0, 1}));
}

TEST_CASE("scaled, and made whole numbers, equal lines stay equal") {
    Random random(test_seed() + 2);
    int scaled = 0, whole = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const ExactBlock graph = block_of(draw_graph(random, 150));
        const std::vector<std::int32_t> kinds = equal_lines(graph).of_row;
        if (kinds.empty() || graph.values.empty() || !has_perfect_matching(nonzero_pattern(graph))) continue;
        Block doubles = doubles_of(graph);
        const auto keeps = [&](const std::vector<std::int32_t> &now) { // lines may become equal, too
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                const auto lowest = static_cast<std::size_t>(kinds[i]);
                if (lowest != i && (now.empty() || now[i] != now[lowest])) return false;
            }
            return true;
        };
        scaled += scale(doubles) != 0;
        CHECK(keeps(equal_lines(doubles).of_row));
        ExactBlock fractions = graph;
        for (Gaussian &x : fractions.values) x.re /= x.re > 2 ? 7 : 3;
        const IntegerBlock integers = integer_block(fractions);
        ExactBlock again{integers.pattern, {}};
        for (const mpz_class &x : integers.re) again.values.push_back({mpq_class(x), 0});
        CHECK(keeps(equal_lines(again).of_row));
        ++whole;
    }
    CHECK(scaled > run::enough(20));
    CHECK(whole > run::enough(50));
}
