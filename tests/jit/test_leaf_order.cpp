// The order in which kernels with rows in shared memory take a leaf's instructions: the same values, fewer at
// once.
#include "jit/kernel/leaf.hpp"

#include "bench/families.hpp"
#include "jit/program/tree.hpp"
#include "lib/subsets/plan.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/run.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace libperm;
using trees::at;
using trees::Random;

namespace {

// The outputs for some row sums and constants, as whole numbers modulo 2^64: no order changes one.
std::vector<std::uint64_t> outputs(const StraightLine &leaf) {
    std::vector<std::uint64_t> values;
    for (std::int32_t v = 0; v < leaf.inputs; ++v) values.push_back(at(v) * 0x9e3779b97f4a7c15 + 1);
    for (const Instruction &i : leaf.code) {
        const std::uint64_t a = values[at(i.a)],
                            b = takes_constant(i.op) ? at(i.b) * 77 + 5 : values[at(i.b)],
                            c = takes_third(i.op) ? values[at(i.c)] : 0;
        values.push_back(i.op == Op::add || i.op == Op::add_absolute             ? a + b
                         : i.op == Op::multiply || i.op == Op::multiply_absolute ? a * b
                         : i.op == Op::subtract                                  ? a - b
                         : i.op == Op::nmadd                                     ? c - a * b
                                                                                 : a * b + c);
    }
    std::vector<std::uint64_t> all;
    for (const std::int32_t v : leaf.outputs) all.push_back(values[at(v)]);
    return all;
}

std::int64_t doubles(const Tree &tree, const StraightLine &leaf, Arithmetic a) {
    return doubles_at_once(leaf, row_sums_of(tree, leaf), a);
}

// By looking at every value in every instruction: what is alive there is made by then, and taken by it or
// later.
double alive_beyond(const StraightLine &leaf, const RowSums &sums, double registers) {
    const std::size_t end = leaf.code.size();
    const auto takes = [&](std::size_t k, std::int32_t v) {
        if (k == end) { // what the next turn, or the sum, takes
            const auto gone = [&](const Restored &r) { return r.row == v; };
            return (v < leaf.inputs && std::ranges::none_of(sums.restored, gone)) ||
                   std::ranges::count(leaf.outputs, v) > 0 ||
                   std::ranges::any_of(sums.restored, [&](const Restored &r) { return r.value == v; });
        }
        bool taken = false;
        if (leaf.code[k].op == Op::add) return sums.of[k].from == v;
        for_operands(leaf.code[k], [&](std::int32_t operand) { taken = taken || operand == v; });
        return taken;
    };
    std::vector<double> alive(end + 1);
    for (std::int32_t v = 0; v < leaf.inputs + static_cast<std::int32_t>(end); ++v) {
        const std::size_t first = v < leaf.inputs ? 0 : at(v - leaf.inputs);
        std::size_t last = end;
        while (last > first && !takes(last, v)) --last;
        const bool is_word = v >= leaf.inputs && leaf.code[first].op == Op::least;
        for (std::size_t k = first; k <= last; ++k) alive[k] += is_word ? 0.5 : 1;
    }
    double beyond = 0;
    for (const double all : alive) beyond += std::max(0.0, all - registers);
    return beyond;
}

Tree tree_of(const perm::Csr &matrix, std::uint64_t seed) {
    return trees::planned(trees::block_of(matrix).pattern, seed).kernel.tree;
}

} // namespace

TEST_CASE("any order of a leaf gives its values, and the one that is taken needs the fewest at once") {
    Random random(run::seed(0x1eaf));
    int leaves = 0;
    for (int k = 0; k < run::cases(40); ++k) {
        const std::int64_t n = random.integer(3, 16);
        const Tree tree = tree_of(trees::matrix(n, perm::families::Entries::ones, random), random.bits());
        const StraightLine &leaf = tree.root.leaf;
        if (leaf.code.empty()) continue;
        ++leaves;
        const StraightLine other = by_depth(leaf);
        REQUIRE(other.code.size() == leaf.code.size());
        CHECK(outputs(other) == outputs(leaf));
        for (const Arithmetic a : {Arithmetic::split, Arithmetic::complex_two_grids}) {
            const StraightLine taken = least_alive(tree, leaf, a);
            CHECK(outputs(taken) == outputs(leaf));
            CHECK(doubles(tree, taken, a) <= doubles(tree, leaf, a));
            const auto read = constants_read(leaf, row_sums_of(tree, leaf)),
                       of_taken = constants_read(taken, row_sums_of(tree, taken));
            CHECK(std::includes(read.begin(), read.end(), of_taken.begin(), of_taken.end()));
        }
    }
    CHECK(leaves > 10);
}

TEST_CASE("of a full matrix one row's versions are there at once, not every row's") {
    const Tree tree = tree_of(perm::families::constant(24, 1), 1);
    const StraightLine &leaf = tree.root.leaf;
    const Arithmetic a = Arithmetic::complex_two_grids;
    CHECK(doubles(tree, leaf, a) > row_parts_of(a) * tree.n);
    const double subsets = std::exp2(tree.root.loop);
    CHECK(static_cast<double>(doubles(tree, least_alive(tree, leaf, a), a)) < 3 * parts_of(a) * subsets);
}

TEST_CASE("what a leaf spills: the doubles alive beyond the registers, of every instruction") {
    Random random(run::seed(0x5b11));
    int spilling = 0, fitting = 0;
    for (int k = 0; k < run::cases(30); ++k) {
        const std::int64_t n = random.integer(12, 44);
        const bool by_twos = random.chance(0.3);
        const perm::Csr matrix =
            by_twos ? perm::families::constant(n, 1)
                    : perm::families::erdos_renyi(n, 0.1 + 0.5 * random.uniform(),
                                                  perm::families::Entries::ones, random.bits());
        const Pattern pattern = trees::block_of(matrix).pattern, other = transpose(pattern).pattern;
        const auto has_lines = [](const Pattern &p) {
            return std::ranges::adjacent_find(p.row_ptr) == p.row_ptr.end();
        };
        if (!has_lines(pattern) || !has_lines(other)) continue;
        const SubsetPlan plan = trees::planned(pattern, random.bits());
        const Tree tree = (by_twos ? with_derivative(plan) : plan).kernel.tree;
        const StraightLine &leaf = tree.root.leaf;
        if (leaf.code.empty()) continue;
        const RowSums sums = row_sums_of(tree, leaf);
        const double bytes = spilled_bytes(leaf, sums), expected = alive_beyond(leaf, sums, 116) / 38;
        CHECK(bytes == doctest::Approx(expected).epsilon(1e-9));
        ++(bytes > 0 ? spilling : fitting);
    }
    CHECK(spilling > 0);
    CHECK(fitting > 0);
}
