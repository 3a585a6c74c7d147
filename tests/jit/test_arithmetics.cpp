// The engines that sum over subsets in every arithmetic: the interpreter of trees, and all kernels compiled
// for the host, against exact permanents over the complex rationals; residues against these modulo the prime.
#include "bench/families.hpp"
#include "jit/kernel/subset_source.hpp"
#include "jit/lanes/tree_walk.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"
#include "tests/support/walked.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>

using namespace libperm;
using oracle::Exact;
using subset_cases::compiled;
using trees::at;
using trees::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x61726974); }

constexpr Arithmetic wide[] = {Arithmetic::complex,      Arithmetic::dd,    Arithmetic::complex_dd,
                               Arithmetic::two_grids,    Arithmetic::split, Arithmetic::complex_two_grids,
                               Arithmetic::complex_split};
constexpr SubsetEngine engines[] = {SubsetEngine::tree, SubsetEngine::shared, SubsetEngine::dense,
                                    SubsetEngine::purereg, SubsetEngine::hybrid};

// ---------------------------------------------------------------- matrices and their permanents

Pattern any_pattern(std::int64_t n, Random &random) {
    return trees::block_of(trees::matrix(n, perm::families::Entries::ones, random)).pattern;
}

constexpr const char *kinds[] = {"uniform",  "positive", "imaginary",  "rows that cancel",
                                 "integers", "1e+-300",  "with zeros", "tiny",
                                 "equal",    "rationals"};
constexpr int kind_count = static_cast<int>(std::size(kinds));

ExactBlock values_on(const Pattern &p, int kind, bool is_complex_block, Random &random) {
    ExactBlock block{p, {}};
    const auto part = [&]() -> mpq_class {
        switch (kind) {
        case 1:
            return random.uniform(0.1, 1);
        case 4:
            return static_cast<double>(random.integer(-3, 3));
        case 5:
            return random.uniform(-1, 1) * (random.chance(0.5) ? 1e300 : 1e-300);
        case 7:
            return random.uniform(-1, 1) * (random.chance(0.5) ? 1 : std::ldexp(1.0, -40));
        case 8:
            return 0.7;
        case 9:
            return mpq_class(random.integer(-20, 20)) / 7;
        default:
            return random.uniform(-1, 1);
        }
    };
    for (std::int64_t k = 0; k < p.nnz(); ++k) {
        Gaussian x{kind == 2 && is_complex_block ? mpq_class(0) : part(),
                   is_complex_block ? part() : mpq_class(0)};
        if (kind == 6 && random.chance(0.2)) x = {0, 0};
        block.values.push_back(x);
    }
    if (kind == 3)
        for (std::int32_t i = 1; i < p.rows; i += 2) { // nearly i times the row above
            std::int64_t k = p.row_begin(i);
            for (const std::int32_t j : p.row(i)) {
                std::int64_t above = p.row_begin(i - 1);
                for (const std::int32_t other : p.row(i - 1)) {
                    const Gaussian unit = is_complex_block ? Gaussian{0, 1} : Gaussian{-1, 0};
                    if (other == j) block.values[at(k)] = unit * block.values[at(above)];
                    ++above;
                }
                ++k;
            }
            block.values[at(k - 1)].re += random.uniform(-1, 1) * 1e-9;
        }
    return block;
}

Gaussian permanent(const ExactBlock &block) {
    std::vector<Gaussian> ways(std::size_t{1} << block.n());
    ways[0] = {1, 0};
    for (std::size_t set = 0; set + 1 < ways.size(); ++set) {
        if (is_zero(ways[set])) continue;
        const auto i = static_cast<std::int32_t>(std::popcount(set));
        std::int64_t k = block.pattern.row_begin(i);
        for (const std::int32_t j : block.pattern.row(i)) {
            Gaussian &to = ways[set | std::size_t{1} << j];
            if (!(set >> j & 1)) to = to + ways[set] * block.values[at(k)];
            ++k;
        }
    }
    return ways.back();
}

Exact square(const Gaussian &x) { return x.re * x.re + x.im * x.im; }

struct Tally {
    int compared = 0, close = 0, violated = 0, exact = 0;

    void book(const Outcome &outcome, const Gaussian &truth, double wanted) {
        ++compared;
        REQUIRE(outcome.wide);
        const Exact apart = square({outcome.wide->re - truth.re, outcome.wide->im - truth.im});
        const bool told = std::isfinite(outcome.error.mantissa);
        const Exact bound = told ? exactly(outcome.error) : Exact(0);
        const bool right = (!told || apart <= bound * bound) && (!outcome.exact || apart == 0);
        CHECK(right);
        violated += !right;
        exact += outcome.exact;
        close += outcome.exact || outcome.rel_error_bound < wanted;
    }
};

SubsetPlan plan_of(SubsetEngine engine, const Pattern &p, Arithmetic arithmetic, Random &random) {
    if (engine == SubsetEngine::tree) {
        SubsetPlan tree = with_arithmetic(random.chance(0.5) ? trees::planned(p, random.bits())
                                                             : trees::any_plan(p, 4, random),
                                          arithmetic);
        if (rows_in_shared(tree.kernel))
            tree.kernel.threads = static_cast<std::int32_t>(random.integer(1, 8));
        return tree;
    }
    SubsetPlan plan = plan_subsets(engine, p, transpose(p).pattern, random.chance(0.2));
    SubsetKernel &kernel = plan.kernel;
    kernel.threads = 4;
    kernel.segment_bits = static_cast<std::int32_t>(random.integer(0, kernel.n - 1));
    if (engine == SubsetEngine::hybrid) {
        const std::int64_t k = random.integer(0, kernel.n);
        if (k > kernel.k) kernel.k = static_cast<std::int32_t>(k);
    }
    std::int32_t most = std::min(kernel.segment_bits, 4);
    if (engine == SubsetEngine::hybrid) most = std::min(most, kernel.c);
    kernel.unrolled = kernel.equal_chunks ? 0 : static_cast<std::int32_t>(random.integer(0, most));
    return with_arithmetic(plan, arithmetic);
}

Outcome tree_on_cpu(const SubsetPlan &plan, const ExactBlock &block) {
    return outcome_of(run_subset_sum(plan, {block, plan.kernel.arithmetic}, {{}, true}));
}

double wanted(Arithmetic a) { return is_compensated(a) ? 1e-18 : is_dd(a) ? 1e-24 : 1e-10; }

// ---------------------------------------------------------------- kernels on the host

// On a device of any shape.
Outcome on_host(HostQueue &queue, const SubsetPlan &plan, const EngineInput &block, Random &random) {
    const subset_cases::Played played = subset_cases::any_device(plan, random);
    queue.device = played.device;
    Outcome outcome = subset_cases::run_on(queue, plan, block, played.seconds);
    CHECK(queue.is_whole());
    return outcome;
}

bool same_bits(const Outcome &x, const Outcome &y) {
    return x.wide->re == y.wide->re && x.wide->im == y.wide->im && subset_cases::same_bits(x, y);
}

template <class P> bool same_bits(const std::vector<P> &x, const std::vector<P> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(P)) == 0;
}

// ---------------------------------------------------------------- residues

Residues any_residues(const Pattern &p, Random &random) {
    Residues residues{p, {97, 101, 65537, (1ULL << 47) - 115, (1ULL << 47) - 127, (1ULL << 46) - 21}, {}};
    for (const std::uint64_t prime : residues.primes) {
        CHECK(mpz_probab_prime_p(mpz_class(static_cast<unsigned long>(prime)).get_mpz_t(), 30) > 0);
        const int kind = static_cast<int>(random.integer(0, 2)); // any, next to 0, in the middle
        std::vector<std::uint64_t> of_matrix;
        for (std::int64_t k = 0; k < p.nnz(); ++k)
            of_matrix.push_back(kind == 0   ? random.bits() % prime
                                : kind == 1 ? (prime - 2 + at(random.integer(0, 4))) % prime
                                            : (prime / 2 + at(random.integer(0, 2))) % prime);
        residues.values.push_back(of_matrix);
    }
    return residues;
}

std::vector<std::uint64_t> permanents(const Residues &residues) {
    std::vector<std::uint64_t> all;
    for (std::size_t k = 0; k < residues.primes.size(); ++k) {
        ExactBlock block{residues.pattern, {}};
        for (const std::uint64_t x : residues.values[k])
            block.values.push_back({mpq_class(static_cast<unsigned long>(x)), 0});
        const mpz_class prime(static_cast<unsigned long>(residues.primes[k]));
        mpz_class rest;
        mpz_fdiv_r(rest.get_mpz_t(), permanent(block).re.get_num_mpz_t(), prime.get_mpz_t());
        all.push_back(rest.get_ui());
    }
    return all;
}

} // namespace

TEST_CASE("trees on a CPU, in wide arithmetics") {
    Random random(test_seed());
    for (const Arithmetic a : wide) {
        std::array<Tally, kind_count> tally;
        for (int k = 0; k < 30 * kind_count * run::multiplier(); ++k) {
            const int kind = k % kind_count;
            const std::int64_t n =
                k < 3 * kind_count ? 1 + k / kind_count : random.integer(2, kind == 5 ? 6 : 9);
            CAPTURE(std::string(arithmetic_name(a)));
            CAPTURE(std::string(kinds[kind]));
            CAPTURE(k);
            const Pattern p = any_pattern(n, random);
            const ExactBlock block = values_on(p, kind, is_complex(a), random);
            const SubsetPlan plan = plan_of(SubsetEngine::tree, p, a, random);
            tally[at(kind)].book(tree_on_cpu(plan, plan.transposed ? transposed(block) : block),
                                 permanent(block), wanted(a));
        }
        for (int kind = 0; kind < kind_count; ++kind) {
            const Tally &t = tally[at(kind)];
            MESSAGE(std::string(arithmetic_name(a))
                    << ", " << std::string(kinds[kind]) << ": " << t.compared << " compared, " << t.close
                    << " close, " << t.exact << " exact");
            CHECK(t.compared >= run::enough(30));
        }
        CHECK(tally[0].close > tally[0].compared * 3 / 4);
        CHECK(tally[1].close > tally[1].compared * 9 / 10);
        CHECK(tally[4].exact > tally[4].compared / 3);
    }
}

TEST_CASE("every engine's kernels in wide arithmetics") {
    Random random(test_seed() + 1);
    struct Case {
        SubsetPlan plan;
        ExactBlock block;
        Gaussian truth;
        int kind;
    };
    std::vector<Case> cases;
    std::vector<KernelRecipe> recipes;
    for (const Arithmetic a : wide)
        for (const SubsetEngine engine : engines)
            for (int k = 0; k < run::cases(8); ++k) {
                if (has_two_grids(a) && engine != SubsetEngine::tree) continue;
                const bool large = k == 7 && engine == SubsetEngine::tree; // x in shared memory
                const std::int64_t n = large ? 13 : k < 3 ? k + 1 : random.integer(5, 9);
                const int kind = k < 5 ? k : static_cast<int>(random.integer(0, kind_count - 1));
                const Pattern p = any_pattern(n, random);
                ExactBlock block = values_on(p, kind, is_complex(a), random);
                Case it{plan_of(engine, p, a, random), block, permanent(block), kind};
                if (it.plan.transposed) it.block = transposed(block);
                recipes.push_back(subsets_kernel(it.plan.kernel));
                cases.push_back(std::move(it));
            }
    HostQueue queue;
    if (!compiled(queue, recipes)) return;
    Tally tally;
    int same = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const auto &[plan, block, truth, kind] = cases[k];
        const SubsetKernel &kernel = plan.kernel;
        CAPTURE(std::string(arithmetic_name(kernel.arithmetic)));
        CAPTURE(std::string(subset_engine_name(kernel.engine)));
        CAPTURE(std::string(kinds[kind]));
        CAPTURE(kernel.n);
        CAPTURE(kernel.equal_chunks);
        const Outcome outcome = on_host(queue, plan, {block, plan.kernel.arithmetic}, random);
        tally.book(outcome, truth, wanted(kernel.arithmetic));
        if (kernel.engine != SubsetEngine::tree) continue;
        CHECK(same_bits(outcome, tree_on_cpu(plan, block)));
        const FixedPointWide values(plan, block);
        queue.load(recipes[k]);
        with_arithmetic_of(kernel.arithmetic, values.numbers(), [&](const auto &f) {
            using A = std::remove_cvref_t<decltype(f)>;
            const std::uint64_t segments = std::uint64_t{1} << (kernel.n - 1 - kernel.segment_bits);
            const auto printed = walked<A>(queue, plan, values.numbers(), {0, segments, 3, 0});
            auto interpreted = printed;
            const TreeWalk walk(kernel.tree, values.numbers(), kernel.arithmetic);
            for (std::size_t s = 0; s < interpreted.size(); s += TreeWalk::lanes)
                walk.run(s, std::span(interpreted)
                                .subspan(s, std::min<std::size_t>(TreeWalk::lanes, interpreted.size() - s)));
            CHECK(same_bits(printed, interpreted));
            same += static_cast<int>(printed.size());
        });
    }
    CHECK(tally.compared >= run::enough(120));
    CHECK(tally.close > tally.compared / 2);
    CHECK(same > run::enough(30));
}

TEST_CASE("trees with x in shared memory give the interpreter's bits") {
    Random random(test_seed() + 4);
    std::vector<SubsetPlan> plans;
    std::vector<ExactBlock> blocks;
    std::vector<KernelRecipe> recipes;
    int by_pointer = 0;
    for (const Arithmetic a : wide)
        for (const std::int64_t extra : {2, 5, 0}) { // 0: full, more than parameters hold
            if (extra == 0 && a != Arithmetic::complex_two_grids) continue;
            const perm::Csr matrix =
                extra == 0 ? perm::families::constant(33, 1)
                           : perm::families::permutation_plus(26, extra, perm::families::Entries::ones,
                                                              random.bits());
            Pattern p = trees::block_of(matrix).pattern;
            plans.push_back(with_arithmetic(trees::planned(p, random.bits()), a));
            const ExactBlock block = values_on(p, 0, is_complex(a), random);
            blocks.push_back(plans.back().transposed ? transposed(block) : block);
            CHECK(rows_in_shared(plans.back().kernel) == (a != Arithmetic::two_grids));
            by_pointer += !values_by_parameter(plans.back().kernel);
            if (rows_in_shared(plans.back().kernel)) {
                SubsetKernel &kernel = plans.back().kernel;
                const std::size_t bytes = shared_bytes(kernel, kernel.threads);
                CHECK(bytes <= 96 << 10);
                CHECK((kernel.threads == 128 || 2 * bytes > 96 << 10));
                kernel.threads = 4;
            }
            recipes.push_back(subsets_kernel(plans.back().kernel));
        }
    CHECK(by_pointer == 1);
    HostQueue queue;
    if (!compiled(queue, recipes)) return;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        const SubsetKernel &kernel = plans[k].kernel;
        CAPTURE(std::string(arithmetic_name(kernel.arithmetic)));
        const FixedPointWide values(plans[k], blocks[k]);
        queue.load(recipes[k]);
        with_arithmetic_of(kernel.arithmetic, values.numbers(), [&](const auto &f) {
            using A = std::remove_cvref_t<decltype(f)>;
            const auto printed = walked<A>(queue, plans[k], values.numbers(), {5, 12, 3, 5});
            auto interpreted = printed;
            TreeWalk(kernel.tree, values.numbers(), kernel.arithmetic).run(5, std::span(interpreted));
            CHECK(same_bits(printed, interpreted));
            CHECK(printed.size() == 7);
        });
    }
}

TEST_CASE("doubles whose terms are added up by Kahan's sum, or to twice the precision") {
    Random random(test_seed() + 3);
    struct Case {
        SubsetPlan plan;
        Block block;
        Exact truth;
    };
    std::vector<Case> cases;
    std::vector<KernelRecipe> recipes;
    for (const Summation summation : {Summation::plain, Summation::kahan, Summation::dq})
        for (const SubsetEngine engine : {SubsetEngine::shared, SubsetEngine::purereg, SubsetEngine::hybrid})
            for (const bool equal : {false, true}) {
                const perm::Csr a = perm::families::erdos_renyi(12, 1, perm::families::Entries::real, 7);
                const Block block = trees::block_of(a);
                SubsetPlan plan =
                    plan_subsets(engine, block.pattern, transpose(block.pattern).pattern, equal);
                plan.kernel.threads = 4;
                plan.kernel.segment_bits = 9;
                plan.kernel.unrolled =
                    equal ? 0 : std::min(engine == SubsetEngine::hybrid ? plan.kernel.c : 6, 6);
                cases.push_back({with_arithmetic(plan, Arithmetic::real, summation),
                                 plan.transposed ? transposed(block) : block, oracle::by_frontier(a)});
                recipes.push_back(subsets_kernel(cases.back().plan.kernel));
            }
    HostQueue queue;
    if (!compiled(queue, recipes)) return;
    std::array<double, 3> bound{};
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const auto &[plan, block, truth] = cases[k];
        CAPTURE(k);
        const Outcome outcome = on_host(queue, plan, block, random);
        CHECK(abs(exactly(outcome.value) - truth) <= exactly(outcome.error));
        CHECK(std::isfinite(outcome.error.mantissa));
        bound[static_cast<std::size_t>(plan.kernel.summation)] += to_double(outcome.error);
    }
    CHECK(bound[1] < bound[0]);
    CHECK(bound[2] < bound[1]);
}

TEST_CASE("residues, on a CPU and by every engine's kernel") {
    Random random(test_seed() + 2);
    std::vector<Pattern> patterns;
    std::vector<SubsetPlan> plans;
    std::vector<KernelRecipe> recipes;
    for (const SubsetEngine engine : engines)
        for (int k = 0; k < run::cases(6); ++k) {
            patterns.push_back(any_pattern(k < 3 ? k + 1 : random.integer(5, 11), random));
            plans.push_back(plan_of(engine, patterns.back(), Arithmetic::modular, random));
            recipes.push_back(subsets_kernel(plans.back().kernel));
        }
    HostQueue queue;
    const bool kernels = compiled(queue, recipes);
    int compared = 0, by_kernels = 0;
    for (std::size_t k = 0; k < plans.size(); ++k) {
        const SubsetPlan &plan = plans[k];
        CAPTURE(std::string(subset_engine_name(plan.kernel.engine)));
        CAPTURE(plan.kernel.n);
        const Residues residues = any_residues(patterns[k], random);
        const std::vector<std::uint64_t> truth = permanents(residues);
        const Transposed t = transpose(patterns[k]);
        const Residues other{t.pattern, residues.primes, [&] {
                                 std::vector<std::vector<std::uint64_t>> values;
                                 for (const auto &of_matrix : residues.values) {
                                     values.emplace_back();
                                     for (const std::int64_t source : t.source)
                                         values.back().push_back(of_matrix[at(source)]);
                                 }
                                 return values;
                             }()};
        const Residues &taken = plan.transposed ? other : residues;
        if (plan.kernel.engine == SubsetEngine::tree) {
            call().begin(10 * plan.subsets, 0); // of ten such calls this is a tenth, of any number of primes
            CHECK(std::get<ResidueVector>(run_subset_sum(plan, taken, {{}, true}).value) == truth);
            CHECK(call().fraction() == doctest::Approx(0.1));
            ++compared;
        }
        if (!kernels) continue;
        const subset_cases::Played played = subset_cases::any_device(plan, random);
        queue.device = played.device;
        CHECK(std::get<ResidueVector>(run_subset_sum(plan, taken, {queue, false, played.seconds}).value) ==
              truth);
        CHECK(queue.is_whole());
        by_kernels += static_cast<int>(truth.size());
    }
    CHECK(compared >= run::enough(6));
    if (kernels) CHECK(by_kernels >= run::enough(180));
}
