// Branch decompositions: trees under search against their definition, and the search itself.
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_program.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/branch_starts.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>

using namespace libperm;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x6272616e); }

Pattern pattern_of(std::int32_t n, const std::vector<std::vector<std::int32_t>> &rows) {
    Pattern a;
    a.rows = a.cols = n;
    for (const auto &row : rows) {
        a.col.insert(a.col.end(), row.begin(), row.end());
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
    }
    return a;
}

// With a diagonal: no line is empty.
Pattern random_pattern(std::int64_t n, double density, Random &random) {
    std::vector<std::vector<std::int32_t>> rows(at(n));
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (i == j || random.chance(density)) rows[at(i)].push_back(j);
    return pattern_of(static_cast<std::int32_t>(n), rows);
}

std::optional<FoundBranches> branches_of(const Pattern &a, const BranchSearchOptions &options = {}) {
    return find_branches(a, options);
}

BranchPricing pricing_of(const BranchLines &lines) { return {BranchPrice{}, 1e300, lines.count()}; }

// Leaves of all kinds, so that each entry is in one.
BranchTree mixed_leaves(const BranchLines &lines, const BranchPricing &pricing, Random &random) {
    BranchTree tree(lines, pricing);
    std::vector<char> done(at(lines.entries()), 0);
    for (std::int32_t line = 0; line < lines.count(); ++line) {
        const auto on = lines.on(line);
        if (random.chance(0.6) || std::ranges::any_of(on, [&](std::int32_t e) { return done[at(e)]; }))
            continue;
        for (const std::int32_t e : on) done[at(e)] = 1;
        if (lines.is_row(line))
            tree.add_leaf({BranchLeaf::Kind::row, line, -1});
        else
            tree.add_leaf({BranchLeaf::Kind::column, line - lines.rows(), -1});
    }
    for (std::int32_t e = 0; e < lines.entries(); ++e)
        if (!done[at(e)]) tree.add_leaf({BranchLeaf::Kind::entry, lines.of(e).front(), e});
    return tree;
}

BranchTree random_tree(const BranchLines &lines, const BranchPricing &pricing, Random &random) {
    BranchTree tree = mixed_leaves(lines, pricing, random);
    std::vector<std::int32_t> roots(at(tree.size()));
    std::iota(roots.begin(), roots.end(), 0);
    while (roots.size() > 1) {
        for (int k = 0; k < 2; ++k)
            std::swap(roots[roots.size() - 1 - at(k)],
                      roots[at(random.integer(0, static_cast<std::int64_t>(roots.size()) - 1 - k))]);
        const std::int32_t a = roots.back();
        roots.pop_back();
        roots.back() = tree.join(a, roots.back());
    }
    return tree;
}

std::vector<std::int32_t> entries_of(const BranchLines &lines, const BranchLeaf &leaf) {
    if (leaf.kind == BranchLeaf::Kind::entry) return {static_cast<std::int32_t>(leaf.entry)};
    const auto on = lines.on(leaf.kind == BranchLeaf::Kind::row ? leaf.index : lines.rows() + leaf.index);
    return {on.begin(), on.end()};
}

// Of small trees alone: it recurs.
std::vector<std::int32_t> entries_below(const BranchTree &tree, std::int32_t k) {
    if (k < tree.leaves()) return entries_of(tree.lines(), tree.leaf(k));
    std::vector<std::int32_t> entries;
    for (const std::int32_t child : tree.node(k).child)
        for (const std::int32_t e : entries_below(tree, child)) entries.push_back(e);
    return entries;
}

std::int32_t rebuild(const BranchTree &from, std::int32_t k, BranchTree &to,
                     std::vector<std::int32_t> &number) {
    if (k >= from.leaves()) {
        const auto [a, b] = from.node(k).child;
        const std::int32_t x = rebuild(from, a, to, number), y = rebuild(from, b, to, number);
        number[at(k)] = to.join(x, y);
    }
    return number[at(k)];
}

struct Lines { // below a node
    std::set<std::int32_t> middle, closed;
};

Lines lines_below(const BranchLines &lines, const std::vector<std::int32_t> &entries) {
    std::vector<std::int32_t> below(at(lines.count()), 0);
    for (const std::int32_t e : entries) {
        ++below[at(lines.of(e).front())];
        ++below[at(lines.of(e).back())];
    }
    Lines found;
    for (std::int32_t line = 0; line < lines.count(); ++line)
        if (below[at(line)] > 0)
            (below[at(line)] < lines.degree(line) ? found.middle : found.closed).insert(line);
    return found;
}

// The sets of middle lines that matchings below match, together with all lines that are closed.
std::set<std::set<std::int32_t>> states_below(const BranchLines &lines,
                                              const std::vector<std::int32_t> &entries, const Lines &below) {
    std::set<std::set<std::int32_t>> states;
    for (std::uint32_t chosen = 0; chosen < 1U << entries.size(); ++chosen) {
        std::set<std::int32_t> matched;
        std::size_t count = 0;
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (chosen >> k & 1) {
                matched.insert(lines.of(entries[k]).front());
                matched.insert(lines.of(entries[k]).back());
                count += 2;
            }
        if (matched.size() < count || !std::ranges::includes(matched, below.closed)) continue;
        for (const std::int32_t line : below.closed) matched.erase(line);
        states.insert(matched);
    }
    return states;
}

std::int64_t binomial(std::int64_t n, std::int64_t k) {
    if (k < 0 || k > n) return 0;
    std::int64_t x = 1;
    for (std::int64_t i = 1; i <= k; ++i) x = x * (n - k + i) / i;
    return x;
}

struct CountingAccount final : MemoryAccount {
    std::int64_t now = 0, most = 0, limit = INT64_MAX;
    void hold(std::int64_t bytes) override {
        if (now + bytes > limit) throw std::runtime_error("too much");
        most = std::max(most, now += bytes);
    }
    void let_go(std::int64_t bytes) noexcept override { now -= bytes; }
};

void check_valid(const Pattern &a, const FoundBranches &found) {
    const BranchLines lines(a);
    std::vector<int> times(at(lines.entries()), 0);
    for (const BranchLeaf &leaf : found.tree.leaves)
        for (const std::int32_t e : entries_of(lines, leaf)) {
            ++times[at(e)];
            if (leaf.kind == BranchLeaf::Kind::entry) CHECK(lines.of(e).front() == leaf.index);
        }
    CHECK(std::ranges::all_of(times, [](int k) { return k == 1; }));
    REQUIRE(found.tree.joins.size() + 1 == found.tree.leaves.size());
    std::vector<char> below(at(found.tree.nodes()), 0);
    for (std::size_t k = 0; k < found.tree.joins.size(); ++k)
        for (const std::int32_t child : found.tree.joins[k]) {
            REQUIRE(child >= 0);
            REQUIRE(at(child) < found.tree.leaves.size() + k);
            CHECK(!std::exchange(below[at(child)], 1));
        }
}

// Built from nothing: what it takes, and the states at once of its walk.
void check_predictions(const Pattern &a, const FoundBranches &found) {
    const BranchLines lines(a);
    const BranchPricing pricing = pricing_of(lines);
    BranchTree tree(lines, pricing);
    for (const BranchLeaf &leaf : found.tree.leaves) tree.add_leaf(leaf);
    double alive = 0, peak = 0;
    const auto table = [&](std::int32_t k) { return k < tree.leaves() ? 0.0 : tree.node(k).states.count; };
    for (const auto &[x, y] : found.tree.joins) {
        const std::int32_t k = tree.join(x, y);
        peak = std::max(peak, alive += table(k));
        alive -= table(x) + table(y);
    }
    CHECK(found.seconds == doctest::Approx(tree.seconds()));
    CHECK(found.peak_states == doctest::Approx(peak));
}

} // namespace

TEST_CASE("branches: middle sets and states are those of the definition") {
    Random random(test_seed());
    int compared = 0, all_there = 0;
    for (int c = 0; c < run::cases(60); ++c) {
        CAPTURE(c);
        const Pattern a = random_pattern(random.integer(2, 5), random.uniform(0.2, 0.6), random);
        const BranchLines lines(a);
        if (lines.entries() > 14) continue;
        const BranchPricing pricing = pricing_of(lines);
        const BranchTree tree = random_tree(lines, pricing, random);
        CHECK(tree.roots() == 1);
        for (std::int32_t k = 0; k < tree.size(); ++k, ++compared) {
            const std::vector<std::int32_t> entries = entries_below(tree, k);
            const Lines below = lines_below(lines, entries);
            const auto middle = tree.middle(k);
            CHECK(std::set<std::int32_t>(middle.begin(), middle.end()) == below.middle);
            const BranchStates &states = tree.node(k).states;
            REQUIRE(at(states.width) == below.middle.size());
            const auto there = states_below(lines, entries, below);
            for (const auto &state : there) {
                std::int32_t used = 0;
                for (const std::int32_t line : below.middle)
                    used += lines.is_row(line) != state.contains(line);
                CHECK(used == states.used);
            }
            const std::int64_t most = binomial(states.width, states.used);
            CHECK(std::ssize(there) <= most);
            CHECK(states.count == doctest::Approx(static_cast<double>(std::max<std::int64_t>(most, 1))));
            all_there += std::ssize(there) == most && most > 1;
        }
    }
    CHECK(compared > run::enough(300));
    CHECK(all_there > run::enough(50));
}

TEST_CASE("branches: a tree that was rotated is the one built so") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int c = 0; c < run::cases(20); ++c) {
        CAPTURE(c);
        const Pattern a = random_pattern(random.integer(3, 14), random.uniform(0.15, 0.5), random);
        const BranchLines lines(a);
        const BranchPricing pricing = pricing_of(lines);
        BranchTree tree = random_tree(lines, pricing, random);
        for (int k = 0; k < 200; ++k) {
            const auto parent = static_cast<std::int32_t>(random.integer(tree.leaves(), tree.size() - 1));
            const auto rotation = tree.rotation(parent, random.chance(0.5), random.chance(0.5));
            if (!rotation) continue;
            const BranchTree::Rotated to = tree.rotated(*rotation);
            if (random.chance(0.7)) tree.rotate(*rotation, to);
        }
        BranchTree built(lines, pricing);
        std::vector<std::int32_t> number(at(tree.size()));
        for (std::int32_t k = 0; k < tree.leaves(); ++k) number[at(k)] = built.add_leaf(tree.leaf(k));
        std::int32_t root = 0;
        while (tree.node(root).parent >= 0) root = tree.node(root).parent;
        rebuild(tree, root, built, number);
        REQUIRE(built.size() == tree.size());
        for (std::int32_t k = 0; k < tree.size(); ++k, ++compared) {
            const BranchNode &x = tree.node(k), &y = built.node(number[at(k)]);
            const auto m = tree.middle(k), n = built.middle(number[at(k)]);
            CHECK(std::set<std::int32_t>(m.begin(), m.end()) == std::set<std::int32_t>(n.begin(), n.end()));
            CHECK(m.size() == n.size());
            CHECK(x.states.width == y.states.width);
            CHECK(x.states.used == y.states.used);
            CHECK(x.states.leaf == y.states.leaf);
            CHECK(x.entries == y.entries);
            CHECK(x.seconds == doctest::Approx(y.seconds));
        }
        CHECK(tree.seconds() == doctest::Approx(built.seconds()));
    }
    CHECK(compared > run::enough(500));
}

TEST_CASE("branches: found trees are valid, as dear as they say, and the same for the same seed") {
    Random random(test_seed() + 2);
    int lines_as_leaves = 0, entries_as_leaves = 0;
    for (int c = 0; c < run::cases(20); ++c) {
        CAPTURE(c);
        const std::int64_t n = random.integer(1, 35);
        const Pattern a =
            random_pattern(n, std::min(1.0, random.uniform(1.5, 5) / static_cast<double>(n)), random);
        BranchSearchOptions options;
        options.seed = random.bits();
        options.budget.effort = c % 3 == 0 ? 0.01 : 1;
        CountingAccount account;
        options.account = &account;
        const auto found = branches_of(a, options), again = branches_of(a, options);
        CHECK(account.now == 0);
        CHECK(account.most > 0);
        REQUIRE(found.has_value());
        REQUIRE(again.has_value());
        check_valid(a, *found);
        check_predictions(a, *found);
        CHECK(again->tree.joins == found->tree.joins);
        CHECK(again->seconds == found->seconds);
        for (const BranchLeaf &leaf : found->tree.leaves)
            (leaf.kind == BranchLeaf::Kind::entry ? entries_as_leaves : lines_as_leaves) += 1;
    }
    CHECK(lines_as_leaves > 0);
    CHECK(entries_as_leaves > 0);
}

TEST_CASE("branches: the bound of the dearest node holds") {
    Random random(test_seed() + 3);
    int compared = 0;
    for (int c = 0; c < run::cases(30); ++c) {
        CAPTURE(c);
        const Pattern a = random_pattern(random.integer(8, 20), random.uniform(0.4, 1), random);
        const BranchLines lines(a);
        const BranchPricing pricing = pricing_of(lines);
        const double least = pricing.least_seconds(lines.least_degree());
        compared += lines.least_degree() > 4;
        CHECK(random_tree(lines, pricing, random).seconds() >= least);
        const auto found = branches_of(a);
        REQUIRE(found.has_value());
        CHECK(found->seconds >= least);
    }
    CHECK(compared > run::enough(10));
}

// Full blocks of 12 hang together by single entries: lines that join two blocks have more roots than are
// looked at one by one, and come last.
TEST_CASE(
    "branches: of a tree of full blocks no two are joined by what their lines have in common too early") {
    Random random(test_seed() + 8);
    constexpr std::int32_t size = 12, blocks = 300;
    std::vector<std::set<std::int32_t>> rows(at(size * blocks));
    const auto line_of = [&](std::int32_t block) {
        return size * block + static_cast<std::int32_t>(random.integer(0, size - 1));
    };
    for (std::int32_t b = 0; b < blocks; ++b) {
        for (std::int32_t i = 0; i < size * size; ++i)
            rows[at(size * b + i / size)].insert(size * b + i % size);
        for (int e = 0; b > 0 && e < 2; ++e) {
            const std::int32_t line = line_of(b), above = line_of((b - 1) / 2);
            rows[at(line)].insert(above);
            rows[at(above)].insert(line);
        }
    }
    std::vector<std::vector<std::int32_t>> sorted;
    for (const auto &row : rows) sorted.emplace_back(row.begin(), row.end());
    const Pattern a = pattern_of(size * blocks, sorted);
    BranchSearchOptions options;
    options.budget.effort = 0.1;
    const auto found = branches_of(a, options);
    REQUIRE(found.has_value());
    check_valid(a, *found);
    CHECK(found->peak_states < 0x1p20); // 2^24 to 2^90, or no tree at all, where they came first
}

TEST_CASE("branches: a path, a star, a clique and a large block end soon") {
    const auto polls_of = [](const Pattern &a, double other_seconds, bool found) {
        std::atomic<std::int64_t> polls = 0;
        BranchSearchOptions options;
        options.other_seconds = other_seconds;
        const PolledBy counted([&polls] { ++polls; });
        const auto branches = branches_of(a, options);
        CHECK(branches.has_value() == found);
        if (branches) check_valid(a, *branches);
        return polls.load();
    };
    constexpr double of_poll = 1e-9 * PolledSteps::between; // seconds, about

    std::vector<std::vector<std::int32_t>> rows;
    const std::int32_t long_path = run::sanitized ? 500 : 50000;
    for (std::int32_t i = 0; i < long_path; ++i)
        rows.push_back(i + 1 < long_path ? std::vector{i, i + 1} : std::vector{0, i});
    CHECK(of_poll * static_cast<double>(polls_of(pattern_of(long_path, rows), 1e300, true)) < 4);

    rows.clear();
    const std::int32_t points = run::sanitized ? 400 : 20000;
    rows.emplace_back(at(points));
    std::iota(rows[0].begin(), rows[0].end(), 0);
    for (std::int32_t i = 1; i < points; ++i) rows.push_back({0, i});
    CHECK(of_poll * static_cast<double>(polls_of(pattern_of(points, rows), 1e300, true)) < 4);

    rows.clear();
    constexpr std::int32_t hubs = 20; // 2 10^5 entries in one block
    for (std::int32_t i = 0; i < points / 4; ++i) {
        rows.emplace_back(at(i < hubs ? points / 4 : hubs));
        std::iota(rows.back().begin(), rows.back().end(), 0);
        if (i >= hubs) rows.back().push_back(i);
    }
    CHECK(of_poll * static_cast<double>(polls_of(pattern_of(points / 4, rows), 1e300, true)) < 5);

    for (const std::int32_t n : {100, run::sanitized ? 120 : 1000}) {
        const std::vector<std::int32_t> row = [n] {
            std::vector<std::int32_t> all(at(n));
            std::iota(all.begin(), all.end(), 0);
            return all;
        }();
        const Pattern clique = pattern_of(n, std::vector(at(n), row));
        CHECK(polls_of(clique, 10, false) == 0);
        CHECK(of_poll * static_cast<double>(polls_of(clique, 1e300, n < 107)) < 5);
    }

    Random random(test_seed() + 4);
    const std::int32_t many = run::sanitized ? 400 : 20000;
    rows.assign(many, {});
    for (std::int32_t i = 0; i < many; ++i) {
        std::set<std::int32_t> row{i};
        while (row.size() < 10) row.insert(static_cast<std::int32_t>(random.integer(0, many - 1)));
        rows[at(i)].assign(row.begin(), row.end());
    }
    CHECK(of_poll * static_cast<double>(polls_of(pattern_of(many, rows), 1e300, false)) < 5);
}

TEST_CASE("branches: a tree of 10^5 entries needs no deep stack") {
    constexpr std::int32_t n = 50000;
    std::vector<std::vector<std::int32_t>> rows;
    for (std::int32_t i = 0; i < n; ++i)
        rows.push_back(i + 1 < n ? std::vector{i, i + 1} : std::vector{0, i});
    const Pattern a = pattern_of(n, rows);
    BranchDecomposition path; // one entry after the other: as deep as a tree can be
    std::int64_t entry = 0;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < rows[at(i)].size(); ++k)
            path.leaves.push_back({BranchLeaf::Kind::entry, i, entry++});
    const auto leaves = static_cast<std::int32_t>(path.leaves.size());
    path.joins.push_back({0, 1});
    for (std::int32_t k = 2; k < leaves; ++k) path.joins.push_back({leaves + k - 2, k});
    std::optional<FoundBranches> found;
    bool feasible = false;
    const std::function<void()> work = [&] {
        feasible = is_decomposition(a, path) && build_branch_program(a, path).feasible;
        found = branches_of(a);
        feasible = feasible && found && build_branch_program(a, found->tree).feasible;
    };
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, run::sanitized ? 1 << 21 : 1 << 18) == 0);
    pthread_t thread{};
    REQUIRE(pthread_create(
                &thread, &attributes,
                [](void *to_do) -> void * {
                    (*static_cast<const std::function<void()> *>(to_do))();
                    return nullptr;
                },
                const_cast<std::function<void()> *>(&work)) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&attributes);
    CHECK(feasible);
    REQUIRE(found.has_value());
    check_valid(a, *found);
}

TEST_CASE("branches: a poll that throws and an account that refuses stop the search") {
    Random random(test_seed() + 5);
    const Pattern a = random_pattern(200, 0.02, random);
    BranchSearchOptions options;
    CountingAccount account;
    options.account = &account;
    std::optional<PolledBy> stop([] { throw std::runtime_error("stop"); });
    CHECK_THROWS_AS(branches_of(a, options), std::runtime_error);
    CHECK(account.now == 0);
    stop.reset();
    account.limit = 1000;
    CHECK_THROWS_AS(branches_of(a, options), std::runtime_error);
    CHECK(account.now == 0);
}
