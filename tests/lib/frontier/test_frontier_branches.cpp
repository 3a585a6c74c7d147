// The frontier on random trees, in all numbers, against exact permanents.
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/scaling.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/run.hpp"
#include "tests/support/wide_cases.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace libperm;
using namespace wide;
using branch_cases::Leaves;

namespace {

std::uint64_t test_seed() { return run::seed(0x6272616e); }

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};

BranchProgram random_program(const Pattern &a, int trial, Random &random) {
    const BranchDecomposition tree = branch_cases::random_tree(a, all_leaves[trial % 4], random);
    REQUIRE(is_decomposition(a, tree));
    return build_branch_program(a, tree);
}

// |value - truth| <= error.
void check_bound(const Outcome &outcome, const oracle::Gaussian &truth) {
    REQUIRE(outcome.wide);
    REQUIRE(std::isfinite(outcome.error.mantissa));
    const oracle::Exact re = outcome.wide->re - truth.re, im = outcome.wide->im - truth.im,
                        error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

// Entries as doubles have them.
void round(Case &c) {
    for (Gaussian &x : c.block.values) x.re = x.re.get_d();
    for (auto &row : c.rows)
        for (Gaussian &x : row) x.re = x.re.get_d();
}

Block doubles_of(const ExactBlock &exact) {
    Block block;
    block.pattern = exact.pattern;
    for (const Gaussian &x : exact.values) block.values.push_back(tracked(x.re.get_d()));
    return block;
}

EngineResult run_doubles(const Block &block, const FrontierProgram &program, int threads = 1) {
    Budgets b;
    return run_frontier(FrontierForm::branches, {block, program, b.memory, threads});
}

// A line of leaves, joined from the first on: the program of a path.
BranchDecomposition path_of(const FrontierProgram &program) {
    BranchDecomposition tree;
    const auto kind = program.transposed ? BranchLeaf::Kind::column : BranchLeaf::Kind::row;
    for (const FrontierStep &step : program.steps) tree.leaves.push_back({kind, step.row, -1});
    std::int32_t node = 0;
    for (std::int32_t k = 1; k < std::ssize(tree.leaves); ++k) {
        tree.joins.push_back({node, k});
        node = std::int32_t(std::ssize(tree.leaves)) + k - 1;
    }
    return tree;
}

} // namespace

TEST_CASE("branches: complex and dd numbers lie within their bounds of exact permanents") {
    Random random(test_seed());
    int compared = 0, joined = 0;
    for (int trial = 0; trial < run::cases(1600); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        const std::int64_t n = trial < 80 ? 1 + trial % 4 : random.integer(2, 9);
        const Case c = make_case(n, random.uniform(0.05, 0.7), kind, false, Order::shuffled, random);
        const BranchProgram branches = random_program(c.block.pattern, trial, random);
        REQUIRE(branches.feasible);
        const oracle::Gaussian truth = c.permanent();
        for (const Arithmetic arithmetic : arithmetics(kind)) {
            CAPTURE(static_cast<int>(arithmetic));
            const WideEntries entries = wide_entries(c.block, arithmetic, true);
            check_bound(run_wide(entries, branches.program, FrontierForm::branches), truth);
            ++compared;
        }
        for (const FrontierBranch &b : branches.program.branches) joined += b.joined[0] >= 0;
    }
    CHECK(compared > run::enough(3000));
    CHECK(joined > run::enough(1000));
}

TEST_CASE("branches: doubles, of far magnitudes too, and what is exact is known to be") {
    Random random(test_seed() + 1);
    int compared = 0, exact = 0;
    for (int trial = 0; trial < run::cases(800); ++trial) {
        CAPTURE(trial);
        constexpr Entries kinds[] = {Entries::nonnegative, Entries::real, Entries::far_signed,
                                     Entries::cancelling};
        Case c = make_case(random.integer(1, 10), random.uniform(0.05, 0.6), kinds[trial / 4 % 4], false,
                           Order::shuffled, random);
        if (trial % 3 == 0) make_integer(c, trial % 2 ? 3 : 0);
        round(c);
        const BranchProgram branches = random_program(c.block.pattern, trial, random);
        Block block = doubles_of(c.block);
        const oracle::Exact permanent = c.permanent().re; // 0: there may be no matching to scale by
        if (permanent == 0 && kinds[trial / 4 % 4] == Entries::far_signed)
            continue; // beyond doubles, unscaled
        const oracle::Exact truth = times_power(permanent, permanent == 0 ? 0 : scale(block));
        const Outcome outcome = outcome_of(run_doubles(block, branches.program));
        REQUIRE(std::isfinite(outcome.error.mantissa));
        CHECK(abs(exactly(outcome.value) - truth) <= exactly(outcome.error));
        ++compared;
        exact += outcome.exact;
    }
    CHECK(compared > run::enough(600));
    CHECK(exact > run::enough(100));
}

TEST_CASE("branches: residues of several matrices are those of the path") {
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        Case c = make_case(random.integer(1, 12), random.uniform(0.05, 0.6), Entries::real, false,
                           Order::searched, random);
        make_integer(c, 40);
        const Residues residues =
            residues_of(c.block, primes_below(62, 1 + static_cast<std::size_t>(trial % 6)));
        const BranchProgram branches = random_program(c.block.pattern, trial, random);
        CHECK(run_residues(residues, branches.program, FrontierForm::branches) ==
              run_residues(residues, c.program, FrontierForm::sparse));
        ++compared;
    }
    CHECK(compared > run::enough(150));
}

TEST_CASE("branches: predicted states and products bound those that are met") {
    Random random(test_seed() + 3);
    for (int trial = 0; trial < run::cases(300); ++trial) {
        CAPTURE(trial);
        const Case c = make_case(random.integer(1, 14), random.uniform(0.05, 0.5), Entries::nonnegative,
                                 false, Order::shuffled, random);
        const BranchProgram branches = random_program(c.block.pattern, trial, random);
        double states = 0, operations = 0;
        for (const FrontierStep &s : branches.program.steps) {
            states += s.states_bound;
            operations += s.expansions_bound;
        }
        for (const FrontierBranch &b : branches.program.branches)
            if (b.joined[0] >= 0) {
                states += b.join.states_bound;
                operations += b.join.products_bound;
            }
        const EngineResult result = run_doubles(doubles_of(c.block), branches.program);
        CHECK(result.counts.states <= 1.0001 * states);
        CHECK(result.counts.operations <= 1.0001 * operations);
    }
}

TEST_CASE("branches: the same bits for any number of threads") {
    Random random(test_seed() + 4);
    for (int trial = 0; trial < 6; ++trial) {
        const Case c = make_case(11, 0.6, Entries::real, false, Order::shuffled, random);
        const BranchProgram branches = random_program(c.block.pattern, trial, random);
        const Block block = doubles_of(c.block);
        const Outcome one = outcome_of(run_doubles(block, branches.program));
        for (const int threads : {2, 3, 8}) {
            Outcome more;
            with_threads(threads, [&] { more = outcome_of(run_doubles(block, branches.program, threads)); });
            CHECK(one.value.mantissa == more.value.mantissa);
            CHECK(one.value.exp2 == more.value.exp2);
            CHECK(one.error.mantissa == more.error.mantissa);
        }
    }
}

TEST_CASE("branches: a tree that is a path has the path's bits") {
    Random random(test_seed() + 5);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        constexpr Entries kinds[] = {Entries::nonnegative, Entries::real, Entries::far_signed,
                                     Entries::cancelling};
        Case c = make_case(random.integer(1, 12), random.uniform(0.1, 0.6), kinds[trial % 4], false,
                           trial % 2 ? Order::searched : Order::shuffled, random);
        round(c);
        const BranchProgram path = build_branch_program(c.block.pattern, path_of(c.program));
        REQUIRE(path.feasible);
        REQUIRE(path.program.branches.size() == 1);
        Block block = doubles_of(c.block);
        if (c.permanent().re != 0) scale(block);
        Budgets b;
        const Outcome one = outcome_of(run_frontier(FrontierForm::sparse, {block, c.program, b.memory, 1}));
        const Outcome two = outcome_of(run_doubles(block, path.program));
        CHECK(one.value.mantissa == two.value.mantissa);
        CHECK(one.value.exp2 == two.value.exp2);
        CHECK(one.error.mantissa == two.error.mantissa);
        CHECK(one.error.exp2 == two.error.exp2);
        CHECK(one.counts.states == two.counts.states);
        ++compared;
    }
    CHECK(compared > run::enough(150));
}

TEST_CASE("branches: exponents of their own, within the bounds of exact permanents") {
    Random random(test_seed() + 6);
    int compared = 0, joined = 0;
    for (int trial = 0; trial < run::cases(400); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Entries>(trial % static_cast<int>(Entries::all));
        Case c =
            make_case(random.integer(1, 9), random.uniform(0.05, 0.6), kind, false, Order::shuffled, random);
        const BranchProgram branches = random_program(c.block.pattern, trial / 3, random);
        for (const FrontierBranch &b : branches.program.branches) joined += b.joined[0] >= 0;
        const auto run = [&](const FrontierInput &input) {
            Budgets b;
            return outcome_of(run_ranged_frontier({input, branches.program, b.memory, 1}));
        };
        const oracle::Gaussian truth = c.permanent();
        for (const Arithmetic arithmetic : arithmetics(kind)) {
            CAPTURE(static_cast<int>(arithmetic));
            check_bound(run(wide_entries(c.block, arithmetic, true)), truth);
            ++compared;
        }
        if (!is_real(kind) || kind == Entries::thirds) continue;
        round(c);
        const Outcome outcome = run(doubles_of(c.block));
        CHECK(abs(exactly(outcome.value) - c.permanent().re) <= exactly(outcome.error));
    }
    CHECK(compared > run::enough(700));
    CHECK(joined > run::enough(300));
}

TEST_CASE("branches: residues are those of exact permanents, whatever the tree, n up to 14") {
    Random random(test_seed() + 7);
    int compared = 0;
    for (int trial = 0; trial < run::cases(80); ++trial) {
        CAPTURE(trial);
        Case c = make_case(trial % 20 == 0 ? 14 : random.integer(2, 11), random.uniform(0.05, 0.35),
                           Entries::real, false, Order::shuffled, random);
        make_integer(c, 20);
        const std::vector<std::uint64_t> primes = primes_below(61, 3);
        const Residues residues = residues_of(c.block, primes);
        const mpq_class truth = c.permanent().re;
        for (int tree = 0; tree < 4; ++tree) {
            const BranchProgram branches = random_program(c.block.pattern, tree, random);
            const auto found = run_residues(residues, branches.program, FrontierForm::branches);
            for (std::size_t k = 0; k < primes.size(); ++k) CHECK(found[k] == residue(truth, primes[k]));
            ++compared;
        }
    }
    CHECK(compared > run::enough(200));
}
