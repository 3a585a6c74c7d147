// What the tree engine expects of an order of the columns, against the programs that are then written; and
// the search for an order.
#include "lib/base/threads.hpp"
#include "preprocess/tree_order.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <map>

using namespace libperm;
using perm::families::Entries;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x746f7264); }

// None empty.
std::vector<LineSet> random_columns(std::int64_t count, std::int64_t rows, Random &random) {
    const double density = random.uniform(0.05, 1);
    std::vector<LineSet> columns(at(count), 0);
    for (LineSet &c : columns) {
        for (std::int64_t i = 0; i < rows; ++i)
            if (random.chance(density)) c |= LineSet{1} << i;
        if (c == 0) c = LineSet{1} << random.integer(0, rows - 1);
    }
    return columns;
}

std::vector<LineSet> columns_of(const Pattern &a) {
    std::vector<LineSet> columns(at(a.cols), 0);
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) columns[at(j)] |= LineSet{1} << i;
    return columns;
}

// The columns as straight-line code.
StraightLine program_of(const std::vector<LineSet> &columns, std::int32_t rows) {
    Tree tree;
    tree.n = std::max(rows, static_cast<std::int32_t>(columns.size()) + 1);
    tree.column_ptr.assign(at(tree.n) + 1, 0);
    for (std::size_t c = 0; c < at(tree.n); ++c) {
        for (LineSet rest = c < columns.size() ? columns[c] : 0; rest != 0; rest &= rest - 1)
            tree.row.push_back(std::countr_zero(rest));
        tree.column_ptr[c + 1] = static_cast<std::int64_t>(tree.row.size());
    }
    tree.root.loop = static_cast<std::int32_t>(columns.size());
    tree.root.end = tree.n - 1;
    tree.segment_bits = tree.root.loop;
    write_programs(tree);
    CHECK(leaf_code(tree) == static_cast<std::int64_t>(tree.root.leaf.code.size()));
    return tree.root.leaf;
}

LineSet rows_of(const std::vector<LineSet> &columns, std::int32_t begin, std::int32_t end) {
    LineSet rows = 0;
    for (std::int32_t c = begin; c < end; ++c) rows |= columns[at(c)];
    return rows;
}

std::vector<LineSet> taken(const std::vector<LineSet> &columns, const std::vector<std::int32_t> &place) {
    std::vector<LineSet> in_order;
    for (const std::int32_t p : place) in_order.push_back(columns[at(p)]);
    return in_order;
}

struct Counts {
    int shapes = 0, leaves = 0, parts = 0, loops = 0;
};

// Checks a shape of columns in its order; returns its operations, those of its leaves by their programs.
double check_shape(const TreeShape &shape, const std::vector<LineSet> &columns, const TreeLimits &limits,
                   std::int32_t rows, Counts &counts) {
    CHECK(shape.begin <= shape.loop);
    CHECK(shape.loop <= shape.end);
    double inner = 0;
    if (!shape.parts.empty()) {
        ++counts.parts;
        inner = limits.iteration;
        std::int32_t next = shape.begin;
        LineSet seen = 0;
        for (const TreeShape &part : shape.parts) {
            CHECK(part.begin == next);
            CHECK(part.begin < part.end);
            const LineSet of_part = rows_of(columns, part.begin, part.end);
            CHECK((of_part & seen) == 0);
            seen |= of_part;
            next = part.end;
            inner += check_shape(part, columns, limits, rows, counts) + 2;
        }
        CHECK(next == shape.loop);
    } else if (shape.begin < shape.loop) {
        ++counts.leaves;
        const std::vector<LineSet> leaf(columns.begin() + shape.begin, columns.begin() + shape.loop);
        CHECK(std::ssize(leaf) <= limits.unrolled);
        const LeafWork work = leaf_work(leaf);
        CHECK(work.operations <= limits.instructions);
        CHECK(work.values <= limits.values);
        inner = static_cast<double>(program_of(leaf, rows).code.size());
        if (shape.loop < shape.end) inner += limits.iteration;
    } else {
        inner = limits.iteration;
    }
    if (shape.loop == shape.end) return inner;
    ++counts.loops;
    // In half of the turns the lowest looped column changes, and the product of its rows, ...
    LineSet seen = rows_of(columns, shape.begin, shape.loop);
    double share = 1;
    for (std::int32_t c = shape.loop; c < shape.end; ++c, share /= 2) {
        inner += share * (std::popcount(columns[at(c)] & ~seen) + 0.5 * std::popcount(columns[at(c)]));
        seen |= columns[at(c)];
    }
    return std::ldexp(inner, shape.end - shape.loop);
}

void check_permutation(std::vector<std::int32_t> of) {
    std::ranges::sort(of);
    std::int32_t next = 0;
    for (const std::int32_t x : of) CHECK(x == next++);
}

bool same_shape(const TreeShape &x, const TreeShape &y) {
    return x.begin == y.begin && x.loop == y.loop && x.end == y.end &&
           std::ranges::equal(x.parts, y.parts, same_shape);
}

// A column alone is within them.
TreeLimits any_limits(Random &random) {
    TreeLimits limits;
    limits.unrolled = static_cast<std::int32_t>(random.integer(1, random.chance(0.5) ? 3 : 8));
    if (random.chance(0.5)) limits.instructions = random.uniform(100, 600);
    if (random.chance(0.3)) limits.values = random.uniform(20, 100);
    if (random.chance(0.3)) limits.iteration = random.uniform(0, 10);
    return limits;
}

} // namespace

TEST_CASE("leaves: the expected instructions are those of the program") {
    Random random(test_seed());
    int compared = 0;
    double instructions = 0;
    for (int k = 0; k < run::cases(5000); ++k) {
        CAPTURE(k);
        const std::int64_t rows = random.integer(1, 20);
        const auto columns = random_columns(random.integer(1, 8), rows, random);
        const StraightLine program = program_of(columns, static_cast<std::int32_t>(rows));
        CHECK(leaf_work(columns).operations == static_cast<double>(program.code.size()));
        instructions += static_cast<double>(program.code.size());
        ++compared;
    }
    CHECK(compared >= run::enough(5000));
    CHECK(instructions > 100.0 * compared);
}

TEST_CASE("shapes are of the columns that they are given, within their limits, and cost what they say") {
    Random random(test_seed() + 1);
    Counts counts;
    for (int k = 0; k < run::cases(2000); ++k) {
        CAPTURE(k);
        const auto n = static_cast<std::int32_t>(random.integer(1, 20));
        auto columns = columns_of(trees::block_of(trees::matrix(n, Entries::ones, random)).pattern);
        if (k % 3 == 0) columns = random_columns(n, n, random);
        if (k % 3 == 1) // the last ones join the rest
            for (std::int32_t j = 0; j + 3 < n; ++j)
                columns[at(j)] = LineSet{1} << j / 3 * 3 | LineSet{1} << j;
        const TreeLimits limits = any_limits(random);
        const ShapedOrder order = shape_of(columns, limits);
        REQUIRE(std::ssize(order.place) == n);
        check_permutation(order.place);
        CHECK(order.place.back() == n - 1);
        CHECK(order.root.begin == 0);
        CHECK(order.root.end == n - 1);
        const double operations = check_shape(order.root, taken(columns, order.place), limits, n, counts);
        if (n > 1) CHECK(order.operations == doctest::Approx(operations).epsilon(1e-12));
        if (n > 1) CHECK(tree_cost(columns, limits).cost >= order.operations * (1 - 1e-12));
        ++counts.shapes;
    }
    CHECK(counts.leaves > counts.shapes / 2);
    CHECK(counts.parts > counts.shapes / 20);
    CHECK(counts.loops > counts.shapes / 2);
}

TEST_CASE("what falls apart costs less than what does not") {
    // Two chains that one column joins; dense columns of as many.
    constexpr std::int32_t n = 24;
    std::vector<LineSet> chains(n), dense(n, (LineSet{1} << n) - 1);
    for (std::int32_t j = 0; j < n; ++j) {
        chains[at(j)] = LineSet{3} << j & ((LineSet{1} << n) - 1);
        if (j == n - 2) chains[at(j)] |= 1;
    }
    CHECK(tree_cost(chains, {}).cost < tree_cost(dense, {}).cost / 100);
}

TEST_CASE("search: the same arguments give the same order, a longer one none that is worse") {
    Random random(test_seed() + 2);
    int better = 0, compared = 0, both_sides = 0;
    for (int k = 0; k < run::cases(60); ++k) {
        CAPTURE(k);
        const std::int64_t n = random.integer(6, 18);
        const Pattern a = trees::block_of(trees::matrix(n, Entries::ones, random)).pattern;
        const Pattern t = transpose(a).pattern;
        TreeOrderOptions options;
        options.seed = random.bits() >> 8;
        options.limits = any_limits(random);
        std::atomic<int> polls = 0;
        const PolledBy counted([&] { ++polls; });
        const auto find = [&](double seconds) {
            options.seconds = seconds;
            TreeOrder order = find_tree_order(a, t, options);
            check_permutation(order.columns);
            REQUIRE(std::ssize(order.columns) == n);
            Counts counts;
            const auto columns = taken(columns_of(order.transposed ? t : a), order.columns);
            CHECK(order.operations ==
                  doctest::Approx(check_shape(order.root, columns, options.limits, a.rows, counts))
                      .epsilon(1e-12));
            return order;
        };
        const TreeOrder start = find(0), found = find(0.001);
        TreeOrder again;
        with_threads(1 + k % 3, [&] { again = find(0.001); });
        CHECK(polls > 0);
        CHECK(found.transposed == again.transposed);
        CHECK(found.columns == again.columns);
        CHECK(same_shape(found.root, again.root));
        CHECK(found.operations == again.operations);
        both_sides += found.transposed;

        // What orders are compared by is the operations times a number that goes with the looped columns of
        // the root: here from any orders that have as many.
        std::map<std::int32_t, double> factor;
        const auto looped = [](const TreeShape &root) { return root.end - root.loop; };
        double least = std::numeric_limits<double>::infinity(); // of the given order and greedy ones
        for (const Pattern *side : {&a, &t})
            for (const double of_degree : {-1.0, 0.1, 1.0}) {
                std::vector<LineSet> columns = columns_of(*side);
                LineSet seen = 0;
                for (auto place = columns.begin(); of_degree > 0 && place != columns.end(); ++place) {
                    const auto score = [&](LineSet c) {
                        return std::popcount(c & ~seen) + of_degree * std::popcount(c);
                    };
                    std::rotate(place, std::ranges::min_element(place, columns.end(), {}, score),
                                std::ranges::min_element(place, columns.end(), {}, score) + 1);
                    seen |= *place;
                }
                const ShapedOrder shaped = shape_of(columns, options.limits);
                const double cost = tree_cost(columns, options.limits).cost;
                if (of_degree > 0) least = std::min(least, cost);
                factor[looped(shaped.root)] = cost / shaped.operations;
            }
        const auto known = [&](const TreeOrder &order) { return factor.contains(looped(order.root)); };
        const auto cost = [&](const TreeOrder &order) {
            return order.operations * factor.at(looped(order.root));
        };
        if (known(start)) CHECK(cost(start) <= least * (1 + 1e-12));
        if (known(found)) CHECK(cost(found) <= least * (1 + 1e-12));
        compared += known(start) + known(found);
        better += known(found) && cost(found) < 0.999 * least;
    }
    CHECK(compared > run::enough(40));
    CHECK(better > 0);
    CHECK(both_sides > 0);
}

TEST_CASE("search: the orders that it met, the cheapest first, and in other limits") {
    Random random(test_seed() + 5);
    int several = 0, other_shapes = 0;
    for (int k = 0; k < run::cases(30); ++k) {
        CAPTURE(k);
        const Pattern a =
            trees::block_of(trees::matrix(random.integer(6, 18), Entries::ones, random)).pattern;
        const Pattern t = transpose(a).pattern;
        TreeOrderOptions options;
        options.seed = random.bits() >> 8;
        options.limits = any_limits(random);
        options.seconds = 0.001;
        const std::vector<TreeOrder> orders = find_tree_orders(a, t, options, 5);
        const TreeOrder best = find_tree_order(a, t, options);
        REQUIRE(!orders.empty());
        CHECK(orders.size() <= 5);
        several += orders.size() > 2;
        CHECK(orders.front().columns == best.columns);
        CHECK(orders.front().transposed == best.transposed);
        double before = 0;
        for (const TreeOrder &order : orders) {
            check_permutation(order.columns);
            const auto columns = taken(columns_of(order.transposed ? t : a), order.columns);
            const double cost = tree_cost(columns, options.limits).cost;
            CHECK(cost >= before * (1 - 1e-9));
            before = cost;
            TreeLimits others = any_limits(random);
            const TreeOrder shaped = shaped_within(others, order, a, t);
            check_permutation(shaped.columns);
            CHECK(shaped.transposed == order.transposed);
            Counts counts;
            const auto shaped_columns = taken(columns_of(order.transposed ? t : a), shaped.columns);
            CHECK(shaped.operations ==
                  doctest::Approx(check_shape(shaped.root, shaped_columns, others, a.rows, counts))
                      .epsilon(1e-12));
            other_shapes += !same_shape(shaped.root, order.root);
        }
    }
    CHECK(several > 0);
    CHECK(other_shapes > 0);
}

TEST_CASE("search: it stops when it is asked to") {
    Random random(test_seed() + 3);
    const Pattern a =
        trees::block_of(perm::families::erdos_renyi(20, 0.3, Entries::ones, random.bits())).pattern;
    TreeOrderOptions options;
    options.seconds = 1e9;
    std::atomic<int> polls = 0; // of both sides
    const PolledBy stop([&] {
        if (++polls >= 3) throw 7;
    });
    CHECK_THROWS_AS(find_tree_order(a, transpose(a).pattern, options), int);
    CHECK(polls >= 3);
}
