// Permanents along random trees, through the C API: saved plans whose decompositions were put into them. All
// kinds of numbers, lines that may stay unmatched and equal ones, against exact sums.
#include "preprocess/frontier_slices.hpp"
#include "tests/support/branch_plans.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace perm::families;
using branch_cases::BranchedPlan, branch_cases::Leaves;
using oracle::Gaussian, oracle::GaussianMatrix;

namespace {

constexpr Leaves all_leaves[] = {Leaves::rows, Leaves::columns, Leaves::entries, Leaves::mixed};
constexpr const char *without[] = {"all", "d1,d2,fm,dm", ""};

perm_opts options(const char *precision, const char *left_out) {
    perm_opts opts = in_precision("frontier", precision);
    opts.without = left_out;
    opts.threads = 1;
    return opts;
}

// What the tests have met.
struct Met {
    int compared = 0, joins = 0, nonzero = 0;
    std::map<branch_cases::BranchLeaf::Kind, int> leaves;

    void note(const BranchedPlan &plan, const Gaussian &truth) {
        compared += plan.blocks > 0;
        joins += plan.joins;
        nonzero += !is_zero(truth);
        for (const auto &[kind, count] : plan.leaves) leaves[kind] += count;
    }
    void check() const {
        CHECK(compared > run::enough(100));
        CHECK(joins > run::enough(100));
        CHECK(nonzero > run::enough(100));
        CHECK(leaves.size() == 3);
    }
};

// Its own value, and whether it is the same along other trees.
perm::Result execute(const BranchedPlan &plan, const perm_opts &opts, const void *values) {
    return perm::Plan::load(plan.bytes, opts).execute(values);
}

// An entry of the diagonal in each row, others now and then.
GaussianMatrix sparse_matrix(std::int64_t n, Complexes entries, Random &random) {
    const auto order = static_cast<std::size_t>(n);
    const double density = random.uniform(0.5, 3) / static_cast<double>(n);
    GaussianMatrix a(order, std::vector<Gaussian>(order));
    const std::vector<std::int64_t> diagonal = random.permutation(n);
    for (std::size_t i = 0; i < order; ++i)
        for (std::size_t j = 0; j < order; ++j)
            if (static_cast<std::size_t>(diagonal[i]) == j || random.chance(density))
                a[i][j] = random_complex(entries, random);
    return a;
}

} // namespace

TEST_CASE("branches: all numbers along random trees, n up to 14") {
    Random random(run::seed(3401));
    Met met;
    int others = 0;
    for (int i = 0; i < run::cases(400); ++i) {
        CAPTURE(i);
        const auto entries = static_cast<Complexes>(i % static_cast<int>(Complexes::kinds));
        const std::int64_t n = i % 20 == 0 ? 14 : random.integer(1, 9);
        const GaussianMatrix a = random.chance(0.25)
                                     ? with_equal_lines(std::min<std::int64_t>(n, 9), entries, random)
                                     : sparse_matrix(n, entries, random);
        const Given g = given(a, entries == Complexes::rationals ? As::text : As::complex);
        const Gaussian truth = oracle::by_subsets(a);
        const void *values = g.csr.values;
        for (const char *precision : {"auto", "double", "dd", "exact"}) {
            CAPTURE(precision);
            const perm_opts opts = options(precision, without[i % 3]);
            const BranchedPlan plan =
                branch_cases::along_random_trees(g.csr, opts, all_leaves[i / 3 % 4], random);
            perm::Result r = execute(plan, opts, values);
            check_gaussian(*r.raw(), truth);
            met.note(plan, truth);
            const BranchedPlan other = branch_cases::along_random_trees(g.csr, opts, Leaves::mixed, random);
            perm::Result s = execute(other, opts, values);
            check_gaussian(*s.raw(), truth);
            if (r->exact && s->exact) {
                CHECK(std::string(r->text) == s->text);
                others += plan.bytes != other.bytes;
            }
        }
    }
    met.check();
    CHECK(others > run::enough(100));
}

TEST_CASE(
    "branches: lines that may stay unmatched, whatever their weights, and lines that count many times") {
    Random random(run::seed(3402));
    const DrawnKind kinds[]{
        {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
        {"signed", PERM_VALUE_F64, [](Random &r) { return real_number(r.uniform(-1, 1)); }},
        {"far apart", PERM_VALUE_F64,
         [](Random &r) {
             return real_number(r.uniform() * std::exp2(static_cast<double>(r.integer(-300, 300))));
         }},
        {"integers", PERM_VALUE_I64,
         [](Random &r) { return real_number(static_cast<double>(r.integer(1, 9))); }},
        {"complex", PERM_VALUE_C128,
         [](Random &r) {
             return Gaussian{mpq_class(r.uniform(-1, 1)), mpq_class(r.uniform(-1, 1))};
         }},
    };
    int compared = 0, nonzero = 0;
    for (const DrawnKind &kind : kinds)
        for (int i = 0; i < run::cases(60); ++i) {
            CAPTURE(kind.name);
            CAPTURE(i);
            const MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingInput input(a, kind.type, random);
            const Gaussian truth = oracle::over_matchings(a);
            for (const char *precision : {"auto", "exact"}) {
                CAPTURE(precision);
                const perm_opts opts = options(precision, without[i % 2]);
                const BranchedPlan plan =
                    branch_cases::along_random_trees(input.csr(), opts, all_leaves[i / 2 % 4], random);
                check_gaussian(*execute(plan, opts, input.values()).raw(), truth);
                compared += plan.joins > 0;
                nonzero += plan.joins > 0 && !is_zero(truth);
            }
        }
    CHECK(compared > run::enough(100));
    CHECK(nonzero > run::enough(100));
}

TEST_CASE("branches: residues modulo primes") {
    Random random(run::seed(3403));
    int compared = 0;
    for (int i = 0; i < run::cases(60); ++i) {
        CAPTURE(i);
        const perm::Csr a = permutation_plus(random.integer(3, 12), 3, Entries::integers, random.bits());
        for (const std::uint64_t prime :
             {std::uint64_t{3}, std::uint64_t{65537}, (std::uint64_t{1} << 61) - 1}) {
            const std::string precision = "mod:" + std::to_string(prime);
            const perm_opts opts = options(precision.c_str(), without[i % 2]);
            const BranchedPlan plan =
                branch_cases::along_random_trees(a.view(), opts, all_leaves[i / 2 % 4], random);
            const perm::Result r = execute(plan, opts, a.values.data());
            mpz_class truth;
            mpz_fdiv_r_ui(truth.get_mpz_t(), oracle::by_ryser(a).get_num().get_mpz_t(), prime);
            CHECK(std::string(r->text) == truth.get_str());
            compared += plan.joins > 0;
        }
    }
    CHECK(compared > run::enough(60));
}

// ---------------------------------------------------------------- what is refused

namespace {

// Of one block, along a random tree of all kinds of leaves.
libperm::Plan branched_plan() {
    Random random(run::seed(3404));
    const perm::Csr a = permutation_plus(20, 4, Entries::real, random.bits());
    const perm_opts opts = options("auto", "all");
    return load_plan(branch_cases::along_random_trees(a.view(), opts, Leaves::mixed, random).bytes,
                     libperm::read_options(&opts));
}

// What is to be forged of it.
libperm::Candidate &branched(libperm::Plan &plan) {
    libperm::BlockPlan &block = plan.block_plans.content(plan.costliest);
    libperm::Candidate &c = block.candidates.at(static_cast<std::size_t>(block.chosen));
    REQUIRE(libperm::form_of(c) == libperm::FrontierForm::branches);
    return c;
}

libperm::FrontierSlice any_slice(libperm::Plan plan) {
    const libperm::FrontierProgram &program =
        libperm::plan_as<libperm::FrontierPlan>(branched(plan))->program;
    const libperm::BranchSource &source = *program.source;
    for (std::int32_t node = 0; node < source.tree.nodes(); ++node)
        for (std::int32_t line = 0; line < source.pattern.rows + source.pattern.cols; ++line)
            if (const libperm::FrontierSlice slice{{node, line, true}}; has_slice(program, slice))
                return slice;
    FAIL("it has no slice");
    return {};
}

perm_status load(const libperm::Plan &plan) {
    const std::string bytes = save_plan(plan);
    perm_plan *loaded = nullptr;
    const perm_status status = perm_plan_load(bytes.data(), bytes.size(), nullptr, &loaded);
    perm_plan_destroy(loaded);
    return status;
}

template <class Change> perm_status load_with(libperm::Plan plan, const Change &change) {
    libperm::Candidate &c = branched(plan);
    auto forged = std::make_shared<libperm::FrontierPlan>(*libperm::plan_as<libperm::FrontierPlan>(c));
    libperm::BranchSource source = *forged->program.source;
    change(source.tree);
    forged->program.source = std::make_shared<const libperm::BranchSource>(std::move(source));
    c.plan = forged;
    return load(plan);
}

} // namespace

TEST_CASE("branches: trees that are none, of another block or too wide are no plan") {
    const libperm::Plan plan = branched_plan();
    using libperm::BranchDecomposition, libperm::BranchLeaf;
    CHECK(load(plan) == PERM_OK);
    const auto refused = [&](const char *what, const auto &change) {
        CAPTURE(what);
        CHECK(load_with(plan, change) == PERM_BAD_ARGUMENT);
        CHECK(std::string(perm_last_error()).find("damaged") != std::string::npos);
    };
    refused("no leaf", [](BranchDecomposition &t) { t = {}; });
    refused("a leaf less", [](BranchDecomposition &t) { t.leaves.pop_back(); });
    refused("a join less", [](BranchDecomposition &t) { t.joins.pop_back(); });
    refused("a leaf twice", [](BranchDecomposition &t) { t.leaves[0] = t.leaves[1]; });
    refused("another line", [](BranchDecomposition &t) {
        for (BranchLeaf &leaf : t.leaves)
            if (leaf.kind != BranchLeaf::Kind::entry) return void(++leaf.index);
    });
    refused("no line", [](BranchDecomposition &t) {
        for (BranchLeaf &leaf : t.leaves)
            if (leaf.kind != BranchLeaf::Kind::entry) return void(leaf.index = 1 << 30);
    });
    refused("a kind that is none",
            [](BranchDecomposition &t) { t.leaves[0].kind = static_cast<BranchLeaf::Kind>(3); });
    refused("a node with itself", [](BranchDecomposition &t) { t.joins[0][1] = t.joins[0][0]; });
    refused("a node before it is there", [](BranchDecomposition &t) { t.joins[0][0] = t.nodes() - 1; });
    refused("a node below none", [](BranchDecomposition &t) { t.joins.back()[0] = -1; });
    refused("a cycle",
            [](BranchDecomposition &t) { t.joins[0][0] = static_cast<std::int32_t>(t.leaves.size()); });
    const auto with = [&](const auto &change) {
        libperm::Plan other = plan;
        change(branched(other));
        return load(other);
    };
    CHECK(with([](libperm::Candidate &c) { c.on_gpu = true; }) == PERM_OK);
    const libperm::FrontierSlice slice = any_slice(plan);
    CHECK(with([&](libperm::Candidate &c) { c.cut = libperm::cut_into({slice}); }) == PERM_OK);
    CHECK(with([&](libperm::Candidate &c) {
              c.cut = libperm::cut_into({slice});
              c.on_gpu = true;
          }) == PERM_BAD_ARGUMENT);
    CHECK(with([](libperm::Candidate &c) { c.form = libperm::number_of(libperm::FrontierForm::sparse); }) ==
          PERM_BAD_ARGUMENT);
}

// Its middle sets would be as wide as the block, and each a moment's work.
TEST_CASE("branches: a forged tree of wide middle sets is refused before they are all counted") {
    const perm::Csr a = banded(20000, 1, 1, Entries::ones, run::seed(3405));
    libperm::Plan plan = plan_in_memory(a, options("auto", "all"));
    libperm::BlockPlan &block = plan.block_plans.content(plan.costliest);
    libperm::BranchDecomposition tree;
    const auto nnz = std::ssize(a.col_idx);
    for (std::int64_t k = 0; k < nnz; ++k) tree.leaves.push_back({libperm::BranchLeaf::Kind::entry, -1, k});
    constexpr std::int64_t step = 7919; // a prime
    REQUIRE(nnz % step != 0);
    auto last = static_cast<std::int32_t>(nnz);
    std::int32_t node = 0;
    for (std::int64_t k = 1; k < nnz; ++k) {
        tree.joins.push_back({node, static_cast<std::int32_t>(k * step % nnz)});
        node = last++;
    }
    const auto forged = std::make_shared<libperm::FrontierPlan>(libperm::FrontierProgram{});
    forged->program.branches.emplace_back(); // as it is written
    forged->program.source =
        std::make_shared<const libperm::BranchSource>(libperm::BranchSource{{}, std::move(tree), {}});
    libperm::Candidate c;
    c.engine = libperm::Engine::frontier;
    c.form = libperm::number_of(libperm::FrontierForm::branches);
    c.plan = forged;
    block.candidates = {c};
    block.chosen = 0;
    CHECK(load(plan) == PERM_BAD_ARGUMENT);
}
