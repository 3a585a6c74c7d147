// The reductions as a caller sees them: whatever is left out or on, whatever the plan was made from, the
// permanent is the same, and the plan and the result say what was done.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;
using nlohmann::json;
using oracle::Exact;

namespace {

constexpr const char *passes[] = {"matching", "dm", "d1", "d2", "fm", "merge", "scaling"};

perm_opts without(const char *names, const char *engine = "auto") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.without = names;
    return opts;
}

perm_opts as_published() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.decompose = "paper";
    return opts;
}

// All passes on; each one, each two and all left out; only one on.
std::vector<std::string> all_settings() {
    std::vector<std::string> settings{"", "all", "all,scaling"};
    for (const std::string first : passes) {
        std::string others;
        settings.push_back(first);
        for (const std::string second : passes) {
            if (first < second) settings.push_back(first + "," + second);
            if (first != second) others += (others.empty() ? "" : ",") + second;
        }
        settings.push_back(others);
    }
    return settings;
}

json explained(const perm::Plan &plan) { return json::parse(plan.explain(PERM_FORMAT_JSON)); }

std::int64_t reduction(const json &plan, const char *what) {
    return plan.at("reductions").at(what).get<std::int64_t>();
}

// A plan that was told nothing of the values.
perm::Plan plan_of_pattern(const perm::Csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm_csr view = a.view();
    view.values = nullptr;
    return perm::Plan(view, opts);
}

std::vector<double> random_values(const perm::Csr &a, Entries entries, Random &random) {
    std::vector<double> values(a.col_idx.size());
    for (double &value : values) value = random_entry(entries, random);
    return values;
}

perm::Csr with_values(perm::Csr a, const std::vector<double> &values) {
    a.values = values;
    return a;
}

// The blocks on the diagonal. Unlike block_sum it takes thousands of them.
perm::Csr diagonal_of(const std::vector<perm::Csr> &blocks) {
    perm::Csr sum;
    for (const perm::Csr &b : blocks) {
        for (std::size_t i = 1; i < b.row_ptr.size(); ++i)
            sum.row_ptr.push_back(b.row_ptr[i] + std::ssize(sum.col_idx));
        for (const std::int64_t j : b.col_idx) sum.col_idx.push_back(sum.n_cols + j);
        sum.values.insert(sum.values.end(), b.values.begin(), b.values.end());
        sum.n_rows += b.n_rows;
        sum.n_cols += b.n_cols;
    }
    return sum;
}

Exact product_of(const std::vector<perm::Csr> &blocks) {
    Exact product = 1;
    for (const perm::Csr &b : blocks) product *= oracle::by_frontier(b);
    return product;
}

// Dense, so that no line is of degree 1 or 2, and random, so that none is a multiple of another.
perm::Csr dense_block(std::int64_t n, Entries entries, Random &random) {
    return erdos_renyi(n, 1, entries, random.bits());
}

Exact factorial(std::int64_t n) { return Exact(mpz_class::factorial(n)); }

Exact power(const Exact &x, std::int64_t n) {
    Exact product = 1;
    for (std::int64_t i = 0; i < n; ++i) product *= x;
    return product;
}

} // namespace

// ---------------------------------------------------------------- what is left out

namespace {

struct Family {
    std::string name;
    std::function<perm::Csr(Entries entries, Random &random)> make; // n <= 9
};

const std::vector<Family> &small_families() {
    static const std::vector<Family> table{
        {"random", [](Entries, Random &r) { return random_matrix(r.integer(0, 9), r); }},
        {"block_triangular",
         [](Entries e, Random &r) {
             return block_triangular(r.integer(1, 3), r.integer(1, 3), 0.5, e, r.bits());
         }},
        {"chain_of_blocks",
         [](Entries e, Random &r) {
             return chain_of_blocks(r.integer(1, 3), r.integer(1, 3), 0.5, e, r.bits());
         }},
        {"degree_chains",
         [](Entries e, Random &r) { return degree_chains(r.integer(4, 9), 3, e, r.bits()); }},
        {"repeated_lines",
         [](Entries e, Random &r) {
             return repeated_lines(r.integer(4, 9), r.integer(1, 4), r.integer(1, 4), e, r.bits());
         }},
        {"proportional_lines",
         [](Entries e, Random &r) {
             return proportional_lines(r.integer(4, 9), r.integer(1, 4), r.integer(1, 4), e, r.bits());
         }},
        {"process", [](Entries e, Random &r) { return process(r.integer(1, 9), e, r.bits()); }},
        {"power_network", [](Entries e, Random &r) { return power_network(r.integer(1, 9), e, r.bits()); }},
        {"mesh", [](Entries e, Random &r) {
             return r.chance(0.5) ? mesh2d(r.integer(1, 3), r.integer(1, 3), e, r.bits())
                                  : mesh3d(2, 2, r.integer(1, 2), e, r.bits());
         }}};
    return table;
}

} // namespace

TEST_CASE("whatever passes are left out, each engine gives the permanent") {
    static constexpr const char *engines[] = {"auto", "frontier", "ryser"};
    const std::vector<std::string> settings = all_settings();
    REQUIRE(settings.size() == 38);
    Random random(run::seed(100));
    for (const Family &family : small_families()) {
        CAPTURE(family.name);
        int computed = 0, nonzero = 0, informative_ones = 0;
        for (std::size_t i = 0; i < 30 * static_cast<std::size_t>(run::multiplier()); ++i) {
            const perm::Csr a = family.make(static_cast<Entries>(i % 5), random);
            CAPTURE(describe(a));
            const Exact truth = oracle::by_frontier(a);
            for (std::size_t k = 0; k < settings.size(); ++k) { // each with each engine, in three matrices
                const std::string engine = engines[(i + k) % 3];
                CAPTURE(engine);
                CAPTURE(settings[k]);
                perm::Result r = perm::compute(a, without(settings[k].c_str(), engine.c_str()));
                check_result(*r.raw(), truth);
                ++computed;
                nonzero += truth != 0;
                informative_ones += truth != 0 && informative(*r.raw());
            }
        }
        CHECK(nonzero > computed / 2);
        CHECK(informative_ones > nonzero * 9 / 10);
    }
}

TEST_CASE("a pass that is left out does nothing, and what is on does something") {
    struct Count {
        std::string what, pass, base; // counted; the pass that does it; left out in any case
        const char *decompose = nullptr;
    };
    const std::vector<Count> table{
        {"dropped_entries", "dm", ""},   {"irreducible_blocks", "dm", ""},
        {"degree_1", "d1", "dm"}, // which leaves none
        {"degree_2", "d2", ""},          {"degree_1", "d1", "dm", "paper"},
        {"degree_2", "d2", "", "paper"}, {"expansions", "fm", "", "paper"}, // where auto does not
        {"merged_lines", "merge", ""}};
    Random random(run::seed(101));
    std::vector<perm::Csr> matrices;
    for (int i = 0; i < 10; ++i) {
        matrices.push_back(block_triangular(3, 6, 0.3, Entries::real, random.bits()));
        matrices.push_back(degree_chains(40, 6, Entries::real, random.bits()));
        matrices.push_back(repeated_lines(12, 4, 4, Entries::real, random.bits()));
        matrices.push_back(banded(random.integer(31, 34), 1, 2, Entries::real, random.bits()));
        matrices.push_back(circulant(random.integer(31, 34), {0, 1, 3}));
    }
    for (const Count &row : table) {
        CAPTURE(row.what);
        CAPTURE(row.base);
        std::int64_t on = 0, off = 0;
        for (const perm::Csr &a : matrices) {
            perm_opts opts = without(row.base.c_str());
            opts.decompose = row.decompose;
            on += reduction(explained(perm::Plan(a, opts)), row.what.c_str());
            const std::string more = row.base.empty() ? row.pass : row.base + "," + row.pass;
            opts.without = more.c_str();
            off += reduction(explained(perm::Plan(a, opts)), row.what.c_str());
        }
        CHECK(on > 0);
        CHECK(off == 0);
    }
}

TEST_CASE("without a perfect matching: 0, with any passes left out") {
    const perm::Csr a =
        build(9, 9, [](std::int64_t i, std::int64_t j) { return i > 4 || j < 4 ? 0.5 : 0.0; });
    for (const std::string &setting : all_settings())
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(setting);
            CAPTURE(std::string(engine));
            perm::Result r = perm::compute(a, without(setting.c_str(), engine));
            check_result(*r.raw(), 0);
            CHECK(r->exact == 1);
        }
    CHECK(reduction(explained(perm::Plan(a)), "zero_parts") == 1);
}

// ---------------------------------------------------------------- the published rule

TEST_CASE("decompose: paper gives the permanent, and auto the same") {
    const std::vector<std::function<perm::Csr(std::int64_t, Entries, std::uint64_t)>> families{
        [](std::int64_t n, Entries e, std::uint64_t s) { return banded(n, 1, 2, e, s); },
        [](std::int64_t n, Entries e, std::uint64_t s) {
            return permutation_plus(std::min<std::int64_t>(n, 36), 2, e, s);
        },
        [](std::int64_t n, Entries e, std::uint64_t s) { return power_network(n, e, s); },
        [](std::int64_t n, Entries e, std::uint64_t s) { return degree_chains(n, 12, e, s); },
        [](std::int64_t, Entries e, std::uint64_t s) { return mesh2d(4, 8, e, s); },
        [](std::int64_t n, Entries e, std::uint64_t s) {
            return process(std::min<std::int64_t>(n, 34), e, s);
        }};
    Random random(run::seed(102));
    std::int64_t expansions = 0, sums = 0, compared = 0;
    for (int i = 0; i < 30 * run::multiplier(); ++i) {
        const perm::Csr a = families[static_cast<std::size_t>(i) % families.size()](
            random.integer(31, 40), static_cast<Entries>(i % 5), random.bits());
        CAPTURE(i);
        CAPTURE(describe(a));
        const Exact truth = oracle::by_frontier(a);
        const json plan = explained(perm::Plan(a, as_published()));
        expansions += reduction(plan, "expansions");
        perm::Result published = perm::compute(a, as_published()), automatic = perm::compute(a);
        check_result(*published.raw(), truth);
        check_result(*automatic.raw(), truth);
        sums += published->blocks > 1;
        if (!informative(*published.raw()) || !informative(*automatic.raw())) continue;
        CHECK(overlap(Ball(*published.raw()), Ball(*automatic.raw())));
        ++compared;
    }
    CHECK(expansions > 0);
    CHECK(sums > 0);
    CHECK(compared > 20);
}

TEST_CASE("decompose: auto is the default, and paper does nothing up to n = 30") {
    const perm::Csr a = banded(30, 1, 1, Entries::counts, run::seed(103));
    perm_opts opts = PERM_OPTS_INIT;
    opts.decompose = "auto";
    check_same_bits(*perm::compute(a, opts).raw(), *perm::compute(a).raw());
    CHECK(explained(perm::Plan(a)).at("blocks") == 0);
    const json plan = explained(perm::Plan(a, as_published()));
    CHECK(plan.at("blocks") == 1);
    CHECK(plan.at("average_n") == 30);
    CHECK(plan.at("average_nnz") == 88);
    CHECK(reduction(plan, "degree_2") == 0);
}

// ---------------------------------------------------------------- repeated lines

TEST_CASE("all entries 0.91, n = 62: one state at a time") {
    perm::Result r = perm::compute(constant(62, 0.91));
    check_result(*r.raw(), power(Exact(0.91), 62) * factorial(62));
    CHECK(r->rel_error_bound < 1e-12);
    CHECK(r->states == 62);
    CHECK(r->peak_states == 1);
    CHECK(r->blocks == 1);
    CHECK(r->blocks_computed == 1);
}

TEST_CASE("all entries equal: n to 300; without the merging it is refused") {
    for (const std::int64_t n : {2, 3, 20, 63, 64, 65, 200, 300})
        for (const double x : {1.0, 0.91, -3.0, 1e300, 0x1p-1074}) {
            CAPTURE(n);
            CAPTURE(x);
            const perm::Csr a = constant(n, x);
            perm::Result r = perm::compute(a);
            check_result(*r.raw(), power(Exact(x), n) * factorial(n));
            CHECK(r->rel_error_bound < 1e-11);
            if (n >= 63) {
                const perm_csr view = a.view();
                const perm_opts opts = without("merge");
                perm::Result none;
                CHECK(perm_compute(&view, &opts, none.raw()) / 100 == 2);
                CHECK(explained(perm::Plan(a, opts)).at("refused") == true);
            }
        }
}

TEST_CASE("a few kinds of lines, n = 40: what no sum over sets of columns could do") {
    Random random(run::seed(104));
    for (int i = 0; i < 10 * run::multiplier(); ++i) {
        const auto entries = i % 2 == 0 ? Entries::nonnegative : Entries::counts;
        const perm::Csr a = i % 4 < 2 ? repeated_lines(40, 3, 4, entries, random.bits())
                                      : proportional_lines(40, 4, 3, entries, random.bits());
        perm::Result r = perm::compute(a), transposed = perm::compute(transpose(a));
        REQUIRE(informative(*r.raw()));
        REQUIRE(informative(*transposed.raw()));
        CHECK(r->rel_error_bound < 1e-11);
        CHECK(overlap(Ball(*r.raw()), Ball(*transposed.raw())));
        CHECK(reduction(explained(perm::Plan(a)), "merged_lines") > 60);
    }
}

// ---------------------------------------------------------------- blocks

TEST_CASE("identical blocks are computed once") {
    Random random(run::seed(105));
    int compared = 0;
    for (const std::int64_t n : {3, 5, 8, 12})
        for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{200}}) {
            CAPTURE(n);
            CAPTURE(count);
            const perm::Csr block = dense_block(n, Entries::nonnegative, random);
            const Exact truth = power(oracle::by_frontier(block), static_cast<std::int64_t>(count));
            const perm::Csr a = diagonal_of(std::vector(count, block));
            perm::Result r = perm::compute(a);
            check_result(*r.raw(), truth);
            CHECK(r->blocks == static_cast<std::int64_t>(count));
            CHECK(r->blocks_computed == 1);
            CHECK(informative(*r.raw()));
            ++compared;
        }
    CHECK(compared == 16);
}

TEST_CASE("blocks of different values are computed one by one") {
    Random random(run::seed(106));
    for (const std::size_t count : {std::size_t{2}, std::size_t{7}, std::size_t{200}}) {
        CAPTURE(count);
        std::vector<perm::Csr> blocks;
        for (std::size_t k = 0; k < count; ++k)
            blocks.push_back(dense_block(6, Entries::nonnegative, random));
        perm::Result r = perm::compute(diagonal_of(blocks));
        check_result(*r.raw(), product_of(blocks));
        CHECK(informative(*r.raw()));
        CHECK(r->blocks == static_cast<std::int64_t>(count));
        CHECK(r->blocks_computed == static_cast<std::int64_t>(count));

        // One number in the last place makes a difference, and those that are equal are found among others.
        std::vector<perm::Csr> some = blocks;
        some.insert(some.end(), blocks.begin(), blocks.end());
        some.push_back(blocks.front());
        some.back().values.back() = std::nextafter(some.back().values.back(), 0.0);
        perm::Result again = perm::compute(diagonal_of(some));
        check_result(*again.raw(), product_of(some));
        CHECK(again->blocks == static_cast<std::int64_t>(2 * count + 1));
        CHECK(again->blocks_computed == static_cast<std::int64_t>(count + 1));
    }
}

TEST_CASE("one singular block among many makes it 0") {
    Random random(run::seed(107));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 20; ++k) blocks.push_back(dense_block(4, Entries::real, random));
    blocks[13] = hadamard(2); // 1 - 1
    perm::Result r = perm::compute(diagonal_of(blocks));
    check_result(*r.raw(), 0);
    CHECK(r->exact == 1);
    CHECK(r.text() == "0");
}

TEST_CASE("many blocks: counts are sums, and far out of the range of double") {
    const perm::Csr block = constant(4, 1e100), ones = constant(4, 1);
    for (const char *engine : {"frontier", "ryser"}) {
        CAPTURE(std::string(engine));
        perm::Result one = perm::compute(block, without("merge", engine));
        perm::Result all = perm::compute(diagonal_of(std::vector(300, block)), without("merge", engine));
        check_result(*all.raw(), power(Exact(1e100), 1200) * power(24, 300));
        CHECK(std::string(all->engine) == engine);
        CHECK(all->blocks == 300);
        CHECK(all->blocks_computed == 1);
        CHECK(all->exp2 > 300000);
        CHECK(std::isinf(all->re));
        CHECK(all->states == one->states);
        CHECK(all->subsets == one->subsets);
        CHECK(all->peak_states == one->peak_states);
    }
    perm::Result two = perm::compute(diagonal_of({block, ones, block, ones}), without("merge", "ryser"));
    check_result(*two.raw(), power(Exact(1e100), 8) * power(24, 4));
    CHECK(two->blocks == 4);
    CHECK(two->blocks_computed == 2);
}

// ---------------------------------------------------------------- plans and other values

TEST_CASE("a plan made without values is executed with repeated ones, and the reverse") {
    Random random(run::seed(108));
    int merged = 0, compared = 0;
    for (int i = 0; i < 60 * run::multiplier(); ++i) {
        const auto entries = static_cast<Entries>(i % 5);
        const std::int64_t n = random.integer(4, 9);
        const perm::Csr repeated = i % 2 == 0 ? repeated_lines(n, 2, 3, entries, random.bits())
                                              : proportional_lines(n, 3, 2, entries, random.bits());
        const perm::Csr plain = with_values(repeated, random_values(repeated, entries, random));
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(std::string(engine));
            const perm_opts opts = without(nullptr, engine);
            const perm::Plan blind = plan_of_pattern(repeated, opts), knowing(repeated, opts),
                             other(plain, opts);
            merged += reduction(explained(knowing), "merged_lines") > 0;
            CHECK(reduction(explained(blind), "merged_lines") == 0);
            for (const perm::Csr *a : {&repeated, &plain}) {
                CAPTURE(describe(*a));
                const Exact truth = oracle::by_frontier(*a);
                perm::Result results[3];
                for (const perm::Plan *plan : {&blind, &knowing, &other}) {
                    perm::Result &r = results[plan == &blind ? 0 : plan == &knowing ? 1 : 2];
                    r = plan->execute(a->values.data());
                    check_result(*r.raw(), truth);
                }
                for (perm::Result &r : results)
                    if (informative(*r.raw()) && informative(*results[0].raw())) {
                        CHECK(overlap(Ball(*r.raw()), Ball(*results[0].raw())));
                        ++compared;
                    }
            }
        }
    }
    CHECK(merged > 30);
    CHECK(compared > 200);
}

TEST_CASE("a plan refused because nothing is known to repeat runs where it does") {
    const perm::Csr a = constant(62, 0.91);
    const perm::Plan plan = plan_of_pattern(a);
    CHECK(explained(plan).at("refused") == true);
    CHECK_FALSE(explained(plan).at("refusal").get<std::string>().empty());
    CHECK(explained(plan).at("predicted_seconds").is_null());
    perm::Result r = plan.execute(a.values.data());
    check_result(*r.raw(), power(Exact(0.91), 62) * factorial(62));
    CHECK(r->peak_states == 1);
    check_same_bits(*r.raw(), *perm::compute(a).raw());

    // Where nothing repeats it stays refused, as does a plan that knows of what repeats elsewhere.
    Random random(run::seed(109));
    const std::vector<double> values = random_values(a, Entries::real, random);
    const perm::Plan knowing(a);
    CHECK_FALSE(explained(knowing).contains("refusal"));
    CHECK(explained(knowing).at("refused") == false);
    perm_csr view = a.view();
    for (const bool known : {false, true}) {
        CAPTURE(known);
        perm_plan *raw = nullptr;
        view.values = known ? a.values.data() : nullptr;
        REQUIRE(perm_plan_create(&view, nullptr, &raw) == PERM_OK);
        perm::Result none;
        CHECK(perm_plan_execute(raw, values.data(), none.raw()) / 100 == 2);
        CHECK(none->text == nullptr);
        CHECK(perm_plan_execute(raw, a.values.data(), none.raw()) == PERM_OK);
        check_same_bits(*none.raw(), *r.raw());
        perm_plan_destroy(raw);
    }
}

TEST_CASE("a plan of many blocks is executed with other values, zeros among them") {
    Random random(run::seed(110));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 12; ++k)
        blocks.push_back(
            indecomposable_blocks(1, random.integer(1, 7), 0.5, Entries::real, random.bits()).front());
    const perm::Csr a = diagonal_of(blocks);
    const perm::Plan blind = plan_of_pattern(a), knowing(a);
    for (int i = 0; i < 20 * run::multiplier(); ++i) {
        perm::Csr b = with_values(a, random_values(a, static_cast<Entries>(i % 5), random));
        for (double &value : b.values)
            if (random.chance(0.02)) value = 0;
        const Exact truth = oracle::by_frontier(b);
        check_result(*blind.execute(b.values.data()).raw(), truth);
        check_result(*knowing.execute(b.values.data()).raw(), truth);
    }
}

// ---------------------------------------------------------------- nothing left

namespace {

void check_nothing_left(const perm::Csr &a, const Exact &truth) {
    CAPTURE(describe(a));
    perm::Result r = perm::compute(a);
    check_result(*r.raw(), truth);
    CHECK(std::string(r->engine) == "none");
    CHECK(r->blocks == 0);
    CHECK(r->blocks_computed == 0);
    CHECK(r->states == 0);
    CHECK(r->subsets == 0);
    const bool whole = std::ranges::all_of(a.values, [](double x) { return x == std::rint(x); });
    if (whole && abs(truth) <= Exact(0x1p53)) CHECK(r->exact == 1);
    const json plan = explained(plan_of_pattern(a));
    CHECK(plan.at("engine") == "none");
    CHECK(plan.at("blocks") == 0);
    CHECK(plan.at("average_n") == 0);
    CHECK(plan.at("groups").empty());
    check_same_bits(*r.raw(), *plan_of_pattern(a).execute(a.values.data()).raw());
}

} // namespace

TEST_CASE("reductions to nothing") {
    Random random(run::seed(111));
    check_nothing_left(tridiagonal(64, 1, 1, 1), Exact("17167680177565"));
    check_nothing_left(tridiagonal(50, 2, 1, 1), Exact("11749380235262596085"));
    check_nothing_left(two_cycles(10, 2, 3), 60073);
    check_nothing_left(two_cycles(500, 1, -1), 2); // n is even
    check_nothing_left(two_cycles(501, 1, -1), 0);
    check_nothing_left(two_cycles(40, 2, 3), (mpz_class(1) << 40) + mpz_class("12157665459056928801"));
    check_nothing_left(arrow(240, Entries::ones, 0), 240);
    check_nothing_left(triangular(40, Entries::ones, 1), 1);
    check_nothing_left(build(0, 0, {}), 1);
    check_nothing_left(constant(1, -7), -7);
    check_nothing_left(constant(2, -7), 98);
    for (int i = 0; i < 20 * run::multiplier(); ++i) {
        const auto entries = static_cast<Entries>(i % 5);
        const std::int64_t n = random.integer(2, 60);
        for (const perm::Csr &a :
             {triangular(n, entries, random.bits()), arrow(n, entries, random.bits()),
              banded(n, 1, 1, entries, random.bits()), banded(n, 0, 2, entries, random.bits())}) {
            const std::vector<std::int64_t> rows = random.permutation(n);
            check_nothing_left(permute(a, rows, random.permutation(n)), oracle::by_frontier(a));
        }
    }
}

// ---------------------------------------------------------------- out of range

namespace {

// f(k) = a[k][k] f(k-1) + a[k-1][k] a[k][k-1] f(k-2), every entry times 2^1074: whole numbers.
Exact by_recurrence(const perm::Csr &tridiagonal) {
    const auto entry = [&](std::int64_t i, std::int64_t j) {
        for (auto k = static_cast<std::size_t>(tridiagonal.row_ptr[static_cast<std::size_t>(i)]);; ++k)
            if (tridiagonal.col_idx[k] == j) {
                Exact x(tridiagonal.values[k]);
                mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), 1074);
                return mpz_class(x.get_num());
            }
    };
    const std::int64_t n = tridiagonal.n_rows;
    mpz_class before = 1, last = entry(0, 0);
    for (std::int64_t k = 1; k < n; ++k) {
        const mpz_class next = entry(k, k) * last + entry(k - 1, k) * entry(k, k - 1) * before;
        before = std::exchange(last, next);
    }
    Exact result(last);
    mpq_div_2exp(result.get_mpq_t(), result.get_mpq_t(), static_cast<mp_bitcnt_t>(1074 * n));
    return result;
}

} // namespace

TEST_CASE("chains of numbers far out of the range of double") {
    Random random(run::seed(112));
    const std::int64_t n = 500;
    const std::vector<Entry> patterns{
        [](std::int64_t i, std::int64_t j) { return (i + j) % 2 == 0 ? 1e300 : 1e-300; },
        [](std::int64_t i, std::int64_t j) { return (i + j) % 2 == 0 ? 1e-300 : 1e300; },
        [](std::int64_t i, std::int64_t) { return i % 2 == 0 ? 1e-300 : 1e300; },
        [](std::int64_t i, std::int64_t j) { return (i + j) % 3 == 0 ? 1e300 : 1e-300; },
        [](std::int64_t i, std::int64_t j) { return i == j ? 1.0 / static_cast<double>(1 + i % 7) : 1e300; },
        [](std::int64_t, std::int64_t) { return 1e-300; },
        [](std::int64_t, std::int64_t) { return 1e300; },
        [](std::int64_t i, std::int64_t j) { return i == j ? 0x1p-1074 : 1e-300; },
        [](std::int64_t i, std::int64_t j) { return i < j ? -1e300 : 1e-300; }};
    int beyond = 0;
    for (const Entry &pattern : patterns) {
        const perm::Csr a = build(
            n, n, [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) <= 1 ? pattern(i, j) : 0.0; });
        const bool nonnegative = std::ranges::all_of(a.values, [](double x) { return x >= 0; });
        CAPTURE(&pattern - patterns.data());
        const Exact truth = by_recurrence(a);
        for (const bool moved : {false, true}) {
            CAPTURE(moved);
            const perm::Csr b = moved ? permute(a, random.permutation(n), random.permutation(n)) : a;
            perm::Result r = perm::compute(b);
            check_result(*r.raw(), truth);
            CHECK(std::string(r->engine) == "none");
            if (nonnegative) CHECK(r->rel_error_bound < 1e-11);
            beyond += std::abs(r->exp2) > 100000;
        }
    }
    CHECK(beyond >= 4);
}

TEST_CASE("compression of numbers out of range that leaves a block for an engine") {
    Random random(run::seed(113));
    for (int i = 0; i < 10 * run::multiplier(); ++i) {
        perm::Csr a = degree_chains(120, 6, Entries::nonnegative, random.bits());
        for (double &value : a.values) value *= random.chance(0.5) ? 1e300 : 1e-300;
        const Exact truth = oracle::by_frontier(a);
        REQUIRE(truth != 0);
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(std::string(engine));
            perm::Result r = perm::compute(a, without(nullptr, engine));
            check_result(*r.raw(), truth);
            CHECK(r->rel_error_bound < 1e-9);
        }
    }
}

// ---------------------------------------------------------------- threads and cancelling

TEST_CASE("many blocks: 1, 2 and 3 threads give the same bits") {
    Random random(run::seed(114));
    for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers}) {
        std::vector<perm::Csr> blocks;
        for (int k = 0; k < 200; ++k) {
            const bool again = k > 10 && random.chance(0.1);
            blocks.push_back(again ? blocks[static_cast<std::size_t>(random.integer(0, k - 1))]
                                   : dense_block(random.integer(1, 11), entries, random));
        }
        const perm::Csr a = diagonal_of(blocks);
        const Exact truth = product_of(blocks);
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(std::string(engine));
            perm_opts opts = without(nullptr, engine);
            opts.threads = 1;
            perm::Result one = perm::compute(a, opts),
                         planned = plan_of_pattern(a, opts).execute(a.values.data());
            check_result(*one.raw(), truth);
            CHECK(one->blocks > 100);
            check_same_bits(*one.raw(), *planned.raw());
            for (const int threads : {2, 3, 0}) {
                CAPTURE(threads);
                opts.threads = threads;
                check_same_bits(*one.raw(), *perm::compute(a, opts).raw());
            }
        }
    }
}

namespace {

struct Stop {
    int polls = 0, last = 0; // cancels when polled for the last time
};

int cancel_at_last(void *user) {
    auto *stop = static_cast<Stop *>(user);
    return ++stop->polls >= stop->last ? 1 : 0;
}

} // namespace

TEST_CASE("the cancel callback stops a run of many blocks") {
    Random random(run::seed(115));
    // Minutes of work: short blocks, which are computed at the same time, and long ones.
    for (const std::int64_t n : {14, 24}) {
        CAPTURE(n);
        const perm::Csr block = dense_block(n, Entries::real, random);
        perm::Csr a = diagonal_of(std::vector(n == 14 ? 5000 : 300, block));
        for (double &value : a.values) value *= random.uniform(0.5, 2);
        Stop stop;
        stop.last = 1'000'000;
        perm_opts opts = without(nullptr, "ryser");
        opts.threads = 2;
        opts.cancel = cancel_at_last;
        opts.cancel_user = &stop;
        perm_plan *plan = nullptr;
        perm_csr view = a.view();
        view.values = nullptr;
        REQUIRE(perm_plan_create(&view, &opts, &plan) == PERM_OK);
        for (const int last : {1, 3}) {
            stop = {0, last};
            perm::Result r;
            CHECK(perm_plan_execute(plan, a.values.data(), r.raw()) == PERM_CANCELLED);
            CHECK(stop.polls == last);
            CHECK(r->text == nullptr);
            CHECK(r->blocks == 0);
        }
        perm_plan_destroy(plan);
    }
}

TEST_CASE("blocks that are short one by one are refused when together they take too long") {
    Random random(run::seed(120));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 600; ++k) blocks.push_back(dense_block(20, Entries::real, random));
    perm_opts opts = without(nullptr, "ryser");
    opts.threads = 1;
    opts.time_limit_seconds = 2;
    const perm::Csr one = blocks.front(), all = diagonal_of(blocks);
    CHECK(perm::compute(one, opts)->blocks == 1);
    const perm_csr view = all.view();
    perm::Result r;
    CHECK(perm_compute(&view, &opts, r.raw()) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("600 blocks") != std::string::npos);
    CHECK(r->blocks == 0);
    const json plan = explained(perm::Plan(all, opts));
    CHECK(plan.at("refused") == true);
    CHECK(plan.at("blocks") == 600);
    // Where they are all the same they are one.
    const json same = explained(perm::Plan(diagonal_of(std::vector(600, one)), opts));
    CHECK(same.at("blocks") == 600);
    CHECK(same.at("refused") == false);
}

// ---------------------------------------------------------------- explaining

namespace {

// What must hold in every plan.
void check_explained(const perm::Plan &plan) {
    const json p = explained(plan);
    CAPTURE(p.dump(1));
    double blocks = 0, sum_n = 0, sum_nnz = 0;
    bool all_shown = true;
    for (const json &group : p.at("groups")) {
        const auto count = group.at("blocks").get<double>();
        CHECK(count > 0);
        CHECK(group.at("seconds").get<double>() >= 0);
        blocks += count;
        if (!group.contains("n")) { // the others
            all_shown = false;
            continue;
        }
        CHECK(group.contains(group.at("engine") == "ryser" ? "subsets" : "states"));
        CHECK(group.contains("form") == (group.at("engine") == "frontier"));
        sum_n += count * group.at("n").get<double>();
        sum_nnz += count * group.at("average_nnz").get<double>();
    }
    CHECK(blocks == p.at("blocks").get<double>());
    CHECK(p.at("groups").size() <= 21);
    CHECK(p.at("different_blocks") <= p.at("blocks"));
    if (all_shown) {
        CHECK(sum_n == doctest::Approx(blocks * p.at("average_n").get<double>()).epsilon(1e-9));
        CHECK(sum_nnz == doctest::Approx(blocks * p.at("average_nnz").get<double>()).epsilon(1e-9));
    }
    CHECK(p.at("candidates").empty() == (blocks == 0));
    CHECK((p.at("engine") == "none") == (blocks == 0 || p.at("refused") == true));
    CHECK(p.contains("refusal") == p.at("refused").get<bool>());
    for (const auto &[what, count] : p.at("reductions").items()) {
        CAPTURE(what);
        CHECK(count.get<std::int64_t>() >= 0);
    }
    const std::string text = plan.explain();
    CHECK(std::ranges::count(text, '\n') < 60);
    CHECK(text.back() == '\n');
}

} // namespace

TEST_CASE("explain: the counts of a plan agree with each other and with the result") {
    Random random(run::seed(116));
    int several = 0;
    for (const Family &family : small_families()) {
        CAPTURE(family.name);
        for (int i = 0; i < 10 * run::multiplier(); ++i) {
            const perm::Csr a = family.make(static_cast<Entries>(i % 5), random);
            for (const char *names : {"", "d1,d2", "merge,dm"}) {
                const perm::Plan plan(a, without(names));
                check_explained(plan);
                // Of explicit zeros perm_compute rids itself first.
                if (std::ranges::find(a.values, 0.0) != a.values.end()) continue;
                perm::Result r = perm::compute(a, without(names));
                CHECK(explained(plan).at("blocks") == r->blocks);
                CHECK(explained(plan).at("different_blocks") == r->blocks_computed);
                several += r->blocks > 1;
            }
        }
    }
    CHECK(several > 10);
}

TEST_CASE("explain: blocks of known size") {
    Random random(run::seed(117));
    std::vector<perm::Csr> blocks;
    double sum_n = 0, sum_nnz = 0;
    for (int k = 0; k < 3000; ++k) {
        const std::int64_t n = random.integer(3, 9);
        blocks.push_back(dense_block(n, Entries::real, random));
        sum_n += static_cast<double>(n);
        sum_nnz += static_cast<double>(n * n);
    }
    const perm::Csr a = diagonal_of(blocks);
    for (const bool known : {false, true}) {
        const perm::Plan plan = known ? perm::Plan(a) : plan_of_pattern(a);
        check_explained(plan);
        const json p = explained(plan);
        CHECK(p.at("blocks") == 3000);
        CHECK(p.at("different_blocks") == 3000);
        CHECK(reduction(p, "irreducible_blocks") == 3000);
        CHECK(reduction(p, "dropped_entries") == 0);
        CHECK(p.at("average_n").get<double>() == doctest::Approx(sum_n / 3000).epsilon(1e-12));
        CHECK(p.at("average_nnz").get<double>() == doctest::Approx(sum_nnz / 3000).epsilon(1e-12));
        CHECK(p.at("groups").size() >= 7);
    }
    const perm::Plan same(diagonal_of(std::vector(3000, blocks.front())));
    check_explained(same);
    CHECK(explained(same).at("blocks") == 3000);
    CHECK(explained(same).at("different_blocks") == 1);
}

TEST_CASE("explain: more different blocks than are planned, and as many groups as are shown") {
    Random random(run::seed(118));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 2500; ++k)
        blocks.push_back(
            indecomposable_blocks(1, random.integer(7, 12), 0.6, Entries::real, random.bits()).front());
    for (std::int64_t n = 13; n < 38; ++n) blocks.push_back(circulant(n, {0, 1, 3})); // a group each
    std::reverse(blocks.begin(), blocks.end());
    const perm::Plan plan = plan_of_pattern(diagonal_of(blocks));
    check_explained(plan);
    const json p = explained(plan);
    CHECK(p.at("blocks") > 2000);
    REQUIRE(p.at("groups").size() == 21);
    CHECK_FALSE(p.at("groups").back().contains("n"));
}

TEST_CASE("explain: a refused plan of many blocks says why") {
    Random random(run::seed(119));
    std::vector<perm::Csr> blocks(50, dense_block(5, Entries::real, random));
    blocks[17] = dense_block(62, Entries::real, random);
    const perm::Plan plan(diagonal_of(blocks));
    check_explained(plan);
    const json p = explained(plan);
    CHECK(p.at("refused") == true);
    CHECK(p.at("predicted_seconds").is_null());
    CHECK(p.at("blocks") == 50);
    CHECK_FALSE(p.at("refusal").get<std::string>().empty());
}

// ---------------------------------------------------------------- what the engines rely on

TEST_CASE("no perfect matching: 0, exactly, also where none was looked for and tables are small") {
    Random random(run::seed(120));
    int singular = 0;
    for (int trial = 0; trial < 300 * run::multiplier(); ++trial) {
        const std::int64_t n = random.integer(2, 9);
        perm::Csr a = erdos_renyi(n, random.uniform(0.1, 0.6), Entries::ones, random.bits());
        if (oracle::by_frontier(a) != 0) continue;
        ++singular;
        CAPTURE(describe(a));
        for (const char *names : {"matching,dm", "all", "all,scaling"})
            for (const char *engine : {"auto", "frontier", "ryser"}) {
                perm_opts opts = without(names, engine);
                opts.memory_limit_bytes = 200000; // so that the dense form may be the one that fits
                perm::Result r = perm::compute(a, opts);
                check_result(*r.raw(), 0);
                CHECK(r->exact == 1);
            }
    }
    CHECK(singular > 100);
    const perm::Csr empty = build(2, 2, [](std::int64_t, std::int64_t) { return 0.0; });
    check_result(*perm::compute(empty, without("all")).raw(), 0);
}

TEST_CASE("no perfect matching in a part of a published expansion") {
    // Five rows share four columns; the others make a band around them.
    const perm::Csr a = build(60, 60, [](std::int64_t i, std::int64_t j) {
        return i < 6 ? (j < 5 ? 1.0 : 0.0) : (j == i || j == i - 3 || j == (i + 7) % 60 ? 1.0 : 0.0);
    });
    perm_opts opts = as_published();
    opts.without = "matching,dm";
    check_result(*perm::compute(a, opts).raw(), 0);
    check_result(*perm::compute(a, without("matching,dm")).raw(), 0);
}

TEST_CASE("entries that cancel exactly in a compression do not stand in the way of scaling") {
    // Row i takes column 2i with x or 2i + 1 with -x, and the even columns of the other pairs with 1/x; row k
    // + m takes columns 2m and 2m + 1 with x. What is left are derangements.
    const double x = 0x1p1000;
    for (const std::int64_t k : {3, 4, 5}) {
        const perm::Csr a = build(2 * k, 2 * k, [&](std::int64_t i, std::int64_t j) {
            if (i >= k) return j / 2 == i - k ? x : 0.0;
            if (j / 2 == i) return j % 2 == 0 ? x : -x;
            return j % 2 == 0 ? 1 / x : 0.0;
        });
        const Exact truth = oracle::by_frontier(a);
        REQUIRE(truth != 0);
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            perm::Result r = perm::compute(a, without("", engine));
            check_result(*r.raw(), truth);
            CHECK(r->rel_error_bound < 1e-9);
        }
    }
}

TEST_CASE("without scaling: out of range is an error or an honest bound") {
    const std::vector<double> diagonal{1e300, 1e-300, 1e-300, 1e-300, 1e300};
    const perm::Csr a = build(5, 5, [&](std::int64_t i, std::int64_t j) {
        return i == j ? diagonal[static_cast<std::size_t>(i)] : 0;
    });
    const Exact truth = oracle::by_frontier(a);
    Random random(run::seed(121));
    for (const char *engine : {"auto", "frontier", "ryser"})
        for (int order = 0; order < 20; ++order) {
            const auto rows = random.permutation(5);
            const perm::Csr b = permute(a, rows, random.permutation(5));
            perm::Result r;
            const perm_csr view = b.view();
            const perm_opts opts = without("all,scaling", engine);
            const perm_status status = perm_compute(&view, &opts, r.raw());
            CHECK((status == PERM_OK || status == PERM_UNSUPPORTED));
            if (status == PERM_OK) check_result(*r.raw(), truth);
        }
}

TEST_CASE("a hub that all other rows meet is taken out") {
    perm::Result r = perm::compute(arrow(1500, Entries::ones, 1));
    CHECK(r.text() == "1500");
    CHECK(std::string(r->engine) == "none");
}

TEST_CASE("whether many short blocks fit the memory does not depend on the threads") {
    Random random(run::seed(122));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 60; ++k) blocks.push_back(erdos_renyi(12, 1, Entries::real, random.bits()));
    const perm::Csr a = diagonal_of(blocks);
    for (const std::int64_t limit : {60000, 100000, 300000}) {
        CAPTURE(limit);
        std::vector<perm_status> statuses;
        for (const int threads : {1, 2, 1, 2}) {
            perm_opts opts = without("d1,d2,fm");
            opts.memory_limit_bytes = limit;
            opts.threads = threads;
            perm::Result r;
            const perm_csr view = a.view();
            statuses.push_back(perm_compute(&view, &opts, r.raw()));
        }
        for (const perm_status status : statuses) CHECK(status == statuses.front());
    }
}
