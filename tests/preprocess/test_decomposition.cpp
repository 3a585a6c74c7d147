// The reductions from inside: each alone, and all in any order, leave the permanent as it is - exactly.
#include "bench/families.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/results.hpp"
#include "preprocess/compression.hpp"
#include "preprocess/decompose.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace libperm;
using oracle::Exact;
using perm::families::Random;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x72656475); }

Exact times_power_of_two(Exact x, std::int64_t exp2) {
    if (exp2 >= 0)
        mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return x;
}

Exact value_of(const Tracked &x) { return times_power_of_two(Exact(x.value), x.exp2); }

Block block_of(const perm::Csr &a) {
    const perm_csr view = a.view();
    const InputPattern input = read_pattern(&view);
    Block block{input.pattern, {}};
    for (const double x : read_values(input, view.values).real) block.values.push_back(tracked(x));
    return block;
}

// The block's permanent; every number in it must be free of rounding.
Exact permanent(const Block &block) {
    perm::Csr a;
    a.n_rows = a.n_cols = block.n();
    a.row_ptr = block.pattern.row_ptr;
    a.col_idx.assign(block.pattern.col.begin(), block.pattern.col.end());
    std::int64_t lowest = 0; // whole numbers for the oracle, whatever the exponents
    for (const Tracked &x : block.values) lowest = std::min(lowest, x.exp2);
    for (const Tracked &x : block.values) {
        REQUIRE(x.roundings == 0);
        REQUIRE(x.exp2 - lowest < 900);
        a.values.push_back(std::ldexp(x.value, static_cast<int>(x.exp2 - lowest)));
    }
    return times_power_of_two(oracle::by_frontier(a), lowest * block.n());
}

// Small whole numbers, so that nothing rounds: sparse of every density, rank-deficient, block-triangular,
// with repeated and proportional rows and columns, with chains of degree 1 and 2.
perm::Csr sample(Random &random) {
    const auto entries = random.chance(0.5) ? families::Entries::counts : families::Entries::integers;
    const std::int64_t n = random.integer(1, 8);
    perm::Csr a;
    switch (random.integer(0, 7)) {
    case 0:
        a = families::erdos_renyi(n, random.uniform(0.1, 1), entries, random.bits());
        break;
    case 1:
        a = families::permutation_plus(n, random.integer(0, 2), entries, random.bits());
        break;
    case 2:
        a = families::banded(n, random.integer(0, 2), random.integer(0, 2), entries, random.bits());
        break;
    case 3:
        a = families::arrow(n, entries, random.bits());
        break;
    case 4:
        a = families::block_triangular(random.integer(1, 3), random.integer(1, 3), 0.5, entries,
                                       random.bits());
        break;
    case 5:
        a = families::degree_chains(random.integer(3, 8), 2, entries, random.bits());
        break;
    case 6:
        a = families::repeated_lines(n, random.integer(1, std::min<std::int64_t>(n, 3)), random.integer(1, n),
                                     entries, random.bits());
        break;
    default:
        a = families::proportional_lines(
            n, random.integer(1, n), random.integer(1, std::min<std::int64_t>(n, 3)), entries, random.bits());
    }
    if (a.n_rows > 1 && random.chance(0.1)) { // two rows with one and the same column
        std::vector<double> row(static_cast<std::size_t>(a.n_rows), 0.0);
        row[static_cast<std::size_t>(random.integer(0, a.n_rows - 1))] = 2;
        a = families::with_row(families::with_row(a, 0, row), a.n_rows - 1, row);
    }
    const std::vector<std::int64_t> rows = random.permutation(a.n_rows);
    return families::permute(a, rows, random.permutation(a.n_rows));
}

Line random_line(const Block &block, Random &random) {
    Line line;
    line.is_column = random.chance(0.5);
    line.index = static_cast<std::int32_t>(random.integer(0, block.n() - 1));
    return line;
}

// The permanent by passes chosen at random until there is nothing left, one step at a time.
Exact by_random_passes(Block block, Random &random, int depth) {
    if (block.n() == 0) return 1;
    if (depth == 0) return permanent(block);
    Exact result = 0;
    switch (random.integer(0, 5)) {
    case 0: {
        const Matching matching = maximum_matching(block.pattern);
        if (matching.size < block.n()) return 0;
        result = 1;
        for (Block &b : dulmage_mendelsohn(std::move(block), matching))
            result *= by_random_passes(std::move(b), random, depth - 1);
        return result;
    }
    case 1:
    case 2: {
        Compression<Tracked> done = compress(block, {random.chance(0.7), random.chance(0.7)});
        if (done.is_zero) return 0;
        return value_of(done.part.factor) * by_random_passes(std::move(done.part.block), random, depth - 1);
    }
    case 3: {
        const Line line = random.chance(0.5) ? lightest_line(block.pattern) : random_line(block, random);
        for (PartOf<Tracked> &part : expand(block, line))
            result += value_of(part.factor) * by_random_passes(std::move(part.block), random, depth - 1);
        return result;
    }
    case 4: {
        const Tracked factor = merge_repeated_lines(block).factor;
        return value_of(factor) * by_random_passes(std::move(block), random, depth - 1);
    }
    default: {
        if (maximum_matching(block.pattern).size < block.n()) return 0;
        const std::int64_t exp2 = scale(block);
        return times_power_of_two(by_random_passes(std::move(block), random, depth - 1), -exp2);
    }
    }
}

// A decomposition's steps, put together with exact permanents of the blocks.
Exact evaluate(Decomposition<Tracked> &decomposition, int *leaves = nullptr) {
    std::vector<Exact> stack;
    const auto combine = [&stack](std::size_t count, bool add) {
        REQUIRE(count <= stack.size());
        Exact result = add ? 0 : 1;
        for (; count > 0; --count) {
            result = add ? Exact(result + stack.back()) : Exact(result * stack.back());
            stack.pop_back();
        }
        stack.push_back(result);
    };
    for (StepOf<Tracked> step; decomposition.next(step);) {
        if (const auto *leaf = std::get_if<Leaf>(&step)) {
            if (leaves) ++*leaves;
            stack.push_back(permanent(leaf->block));
        } else if (const auto *number = std::get_if<Tracked>(&step)) {
            stack.push_back(value_of(*number));
        } else if (const auto *multiply = std::get_if<Multiply>(&step)) {
            combine(multiply->count, false);
        } else {
            combine(std::get<Add>(step).count, true);
        }
    }
    REQUIRE(stack.size() == 1);
    return stack.front();
}

} // namespace

TEST_CASE("tracked numbers: sums and products stay within what they say of themselves") {
    Random random(test_seed());
    int exact = 0, rounded = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        CAPTURE(trial);
        Tracked x = tracked(1);
        Exact truth = 1, terms = 1; // the number, and the sum of its terms' absolute values
        const bool whole = random.chance(0.4);
        const int steps = static_cast<int>(random.integer(1, 12));
        for (int step = 0; step < steps; ++step) {
            const double y =
                whole ? static_cast<double>(random.integer(-9, 9))
                      : std::ldexp(random.uniform(-1, 1), static_cast<int>(random.integer(-60, 60)));
            if (random.chance(0.5)) {
                x = x * tracked(y);
                truth *= y;
                terms *= abs(Exact(y));
            } else {
                x = x + tracked(y);
                truth += y;
                terms += abs(Exact(y));
            }
        }
        const Exact gamma(gamma_bound(x.roundings));
        CHECK(abs(value_of(x) - truth) <= gamma * terms);
        if (x.roundings == 0) CHECK(value_of(x) == truth);
        CHECK(times_power_of_two(Exact(x.magnitude), x.exp2) >= (1 - gamma) * terms);
        (x.roundings == 0 ? exact : rounded) += 1;
    }
    CHECK(exact > run::enough(100));
    CHECK(rounded > run::enough(100));
}

TEST_CASE("tracked numbers have exponents of their own") {
    Tracked large = tracked(1), small = tracked(1);
    for (int k = 0; k < 1000; ++k) {
        large = large * tracked(0x1p1000);
        small = small * tracked(0x1p-1070);
    }
    CHECK(large.exp2 == 1000001);
    CHECK(small.exp2 == -1069999);
    CHECK(large.roundings == 0);
    const Tracked sum = large + small; // all of the small one is lost
    CHECK(sum.roundings == 1);
    CHECK(sum.value == large.value);
}

TEST_CASE("each reduction alone leaves the permanent as it is") {
    Random random(test_seed() + 1);
    int dropped = 0, compressed = 0, merged = 0, zeros = 0;
    for (int trial = 0; trial < run::cases(4000); ++trial) {
        CAPTURE(trial);
        const Block block = block_of(sample(random));
        const Exact truth = permanent(block);
        const Matching matching = maximum_matching(block.pattern);
        if (matching.size < block.n()) {
            ++zeros;
            CHECK(truth == 0);
        } else {
            Exact product = 1;
            std::int64_t nnz = 0;
            for (const Block &b : dulmage_mendelsohn(block, matching)) {
                product *= permanent(b);
                nnz += b.pattern.nnz();
            }
            CHECK(product == truth);
            dropped += nnz < block.pattern.nnz();

            Block scaled = block;
            const std::int64_t exp2 = scale(scaled);
            CHECK(times_power_of_two(permanent(scaled), -exp2) == truth);
        }
        for (const CompressionRule rule : {CompressionRule{true, false}, {false, true}, {true, true}}) {
            const Compression<Tracked> done = compress(block, rule);
            CHECK((done.is_zero ? Exact(0) : value_of(done.part.factor) * permanent(done.part.block)) ==
                  truth);
            if (!done.is_zero) {
                CHECK(done.part.block.n() <= block.n());
                CHECK(done.part.block.pattern.nnz() <= block.pattern.nnz());
                compressed += done.part.block.n() < block.n();
            }
        }
        for (const Line line : {lightest_line(block.pattern), random_line(block, random)}) {
            Exact sum = 0;
            for (const PartOf<Tracked> &part : expand(block, line)) {
                CHECK(part.block.n() == block.n() - 1);
                sum += value_of(part.factor) * permanent(part.block);
            }
            CHECK(sum == truth);
        }
        Block equal = block;
        const RepeatedLines<Tracked> repeated = merge_repeated_lines(equal);
        CHECK(value_of(repeated.factor) * permanent(equal) == truth);
        merged += !repeated.kinds.of_row.empty() || !repeated.kinds.of_col.empty();
    }
    for (const int count : {dropped, compressed, merged, zeros}) CHECK(count > run::enough(20));
}

TEST_CASE("reductions in any order leave the permanent as it is") {
    Random random(test_seed() + 2);
    for (int trial = 0; trial < run::cases(2000); ++trial) {
        CAPTURE(trial);
        const Block block = block_of(sample(random));
        const Exact truth = permanent(block);
        CHECK(by_random_passes(block, random, 4) == truth);
    }
}

TEST_CASE("decompositions with any reductions left out and any blocks expanded") {
    Random random(test_seed() + 3);
    int leaves = 0, sums = 0;
    for (int trial = 0; trial < run::cases(3000); ++trial) {
        CAPTURE(trial);
        const Block block = block_of(sample(random));
        DecompositionRule<Tracked> rule;
        for (bool Passes::*pass : {&Passes::matching, &Passes::dulmage_mendelsohn, &Passes::degree_1,
                                   &Passes::degree_2, &Passes::forbert_marx, &Passes::merging})
            rule.passes.*pass = random.chance(0.7);
        const double share = random.uniform();
        rule.expand = [&](const Block &) { return random.chance(share); };
        Decomposition<Tracked> decomposition(block, rule);
        CHECK(evaluate(decomposition, &leaves) == permanent(block));
        sums += decomposition.reductions().expansions > 0;
    }
    CHECK(leaves > run::enough(1000));
    CHECK(sums > run::enough(100));
}

TEST_CASE("the published rule: down to n = 30, then no further") {
    Random random(test_seed() + 4);
    int leaves = 0;
    for (int trial = 0; trial < run::cases(8); ++trial) {
        CAPTURE(trial);
        const Block block =
            block_of(families::banded(random.integer(31, 36), 1, 2, families::Entries::ones, random.bits()));
        for (const bool dm : {false, true}) {
            DecompositionRule<Tracked> rule;
            rule.as_published = true;
            rule.passes.dulmage_mendelsohn = dm;
            Decomposition<Tracked> decomposition(block, rule);
            CHECK(evaluate(decomposition, &leaves) == permanent(block));
        }
    }
    CHECK(leaves > 0);
}

TEST_CASE("all reductions can end in 0 x 0") {
    for (const std::int64_t n : {1, 2, 50, 3000}) {
        Decomposition fibonacci(block_of(families::tridiagonal(n, 1, 1, 1)), {});
        StepOf<Tracked> step;
        while (fibonacci.next(step)) CHECK_FALSE(std::holds_alternative<Leaf>(step));
        CHECK(fibonacci.reductions().degree_2 + 1 >= n - 1);
    }
    Decomposition fibonacci(block_of(families::tridiagonal(64, 1, 1, 1)), {});
    CHECK(evaluate(fibonacci) == Exact("17167680177565"));
    Decomposition triangle(block_of(families::triangular(40, families::Entries::ones, 1)), {});
    CHECK(evaluate(triangle) == 1);
    CHECK(triangle.reductions().dropped == 780);
}

TEST_CASE("blocks of long chains need no call stack") {
    const std::int32_t n = 200000; // one cycle through all rows, and the same without its last step
    Block block;
    block.pattern.rows = block.pattern.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        if (i + 1 == n) block.pattern.col.push_back(0);
        block.pattern.col.push_back(i);
        if (i + 1 < n) block.pattern.col.push_back(i + 1);
        block.pattern.row_ptr.push_back(static_cast<std::int64_t>(block.pattern.col.size()));
    }
    block.values.assign(block.pattern.col.size(), tracked(1));
    CHECK(dulmage_mendelsohn(block, maximum_matching(block.pattern)).size() == 1);
    Block triangle = block;
    triangle.pattern.col.erase(triangle.pattern.col.end() - 2);
    triangle.values.pop_back();
    --triangle.pattern.row_ptr.back();
    const std::size_t blocks = dulmage_mendelsohn(triangle, maximum_matching(triangle.pattern)).size();
    CHECK(blocks == static_cast<std::size_t>(n));
    const Compression<Tracked> done = compress(block, {});
    CHECK(done.degree_2 > n - 10);
}

TEST_CASE("repeated lines are those that are true multiples, whatever their factors") {
    const double x = 0.91F, y = -0.1F; // with room for the products
    Block block = block_of(families::outer({0.75, 1.5, -3, 0x1p-900}, {x, y, 7, 0x1p900}));
    const RepeatedLines<Tracked> all = merge_repeated_lines(block);
    CHECK(all.kinds.of_row == std::vector<std::int32_t>{0, 0, 0, 0});
    CHECK(all.kinds.of_col == std::vector<std::int32_t>{0, 0, 0, 0});
    for (const Tracked &entry : block.values) CHECK(value_of(entry) == 1);

    // 0.1 * 3 is not 0.3 in doubles: near multiples are not equal.
    Block near = block_of(families::from_dense({{0.1, 0.1, 1}, {0.3, 0.3, 3}, {1, 0.3, 7}}));
    const RepeatedLines<Tracked> none = merge_repeated_lines(near);
    CHECK(none.kinds.of_row.empty());
    CHECK(none.kinds.of_col.empty());

    // Long ones may begin alike and go on otherwise.
    families::Dense long_lines(20, std::vector<double>(20));
    for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < 20; ++j)
            long_lines[i][j] = std::sqrt(static_cast<double>(3 + 20 * i + j * j));
    for (const std::size_t i : {4, 9, 17})
        for (std::size_t j = 0; j < 20; ++j) long_lines[i][j] = -4 * long_lines[2][j];
    long_lines[9][19] *= 2;
    Block lines = block_of(families::from_dense(long_lines));
    const RepeatedLines<Tracked> some = merge_repeated_lines(lines);
    std::vector<std::int32_t> expected(20);
    std::iota(expected.begin(), expected.end(), 0);
    expected[4] = expected[17] = 2;
    CHECK(some.kinds.of_row == expected);
    CHECK(some.kinds.of_col.empty());
}
