// The reductions as a caller sees them: whatever is left out or on, the permanent is the same, and the plan
// and the result say what was done.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/hubs.hpp"
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

} // namespace

// ---------------------------------------------------------------- what is left out

TEST_CASE("whatever passes are left out, each engine gives the permanent" * doctest::skip(run::sanitized)) {
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
    for (int i = 0; i < run::cases(30); ++i) {
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
    CHECK(compared > run::enough(20));
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

// ---------------------------------------------------------------- nothing left

namespace {

void check_nothing_left(const perm::Csr &a, const Exact &truth) {
    CAPTURE(describe(a));
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "frontier"; // not the straight road of small matrices
    perm::Result r = perm::compute(a, opts);
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
    check_result(*plan_of_pattern(a).execute(a.values.data()).raw(), truth); // by a tape
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
    for (int i = 0; i < run::cases(20); ++i) {
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
    for (int i = 0; i < run::cases(10); ++i) {
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

// ---------------------------------------------------------------- hubs

TEST_CASE("hubs of every kind are reduced to the permanent") {
    const std::int64_t n = run::sanitized ? 10000 : 100000;
    const auto one = [] { return 1.0; };
    const auto count = [](std::int64_t i) { return static_cast<long>(i); };
    Dense six(6, std::vector<double>(6));
    for (auto &row : six)
        for (std::size_t h = 0; h < 6; ++h)
            row[h] = static_cast<double>(1 + (n - 1 - static_cast<std::int64_t>(h)) / 6);
    // Matchings of a path with leaves: f(k) = 2 f(k-1) + f(k-2) for the spine of k vertices.
    Exact caterpillar = 2, before = 1;
    for (std::int64_t k = 1; k < n / 2; ++k) {
        before += 2 * caterpillar;
        std::swap(caterpillar, before);
    }
    const struct {
        perm::Csr a;
        Exact permanent;
    } cases[] = {{hubs::arrow(n, one), count(n)},
                 {hubs::attached(n, 6, one), oracle::by_ryser(from_dense(six))},
                 {hubs::caterpillar(n, one), caterpillar}};
    for (const auto &[a, permanent] : cases) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.precision = "double";
        const perm_csr view = a.view();
        perm::Result r;
        REQUIRE(perm_compute(&view, &opts, r.raw()) == PERM_OK);
        check_result(*r.raw(), permanent);
        CHECK(r->rel_error_bound < 1e-9);
    }
}

TEST_CASE("hubs: rectangular ones, with signs and zeros, by every engine") {
    Random random(run::seed(0x68756272));
    int compared = 0;
    for (int trial = 0; trial < run::cases(60); ++trial) {
        const auto value = [&random] { return static_cast<double>(random.integer(-4, 5)); };
        const std::int64_t n = random.integer(4, 9);
        perm::Csr a = hubs::attached(n, random.integer(1, 3), value);
        if (random.chance(0.5)) a = hubs::hessenberg(n, random.integer(1, n), value);
        Dense rows = to_dense(permute(a, random.permutation(n), random.permutation(n)));
        for (std::int64_t left_out = random.integer(0, 2); left_out > 0; --left_out) rows.pop_back();
        const auto cols = static_cast<std::size_t>(n);
        Dense square = rows; // rows of ones below, and the number of their orders
        Exact orders = 1;
        while (square.size() < cols) {
            square.emplace_back(cols, 1.0);
            orders *= static_cast<long>(square.size() - rows.size());
        }
        const Exact truth = oracle::by_definition(from_dense(square)) / orders;
        const perm::Csr wide =
            build(static_cast<std::int64_t>(rows.size()), n, [&](std::int64_t i, std::int64_t j) {
                return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            });
        for (const char *engine : {"auto", "ryser", "frontier"}) {
            const perm_csr view = wide.view();
            perm_opts opts = PERM_OPTS_INIT;
            opts.engine = engine;
            perm::Result r;
            REQUIRE(perm_compute(&view, &opts, r.raw()) == PERM_OK);
            check_result(*r.raw(), truth);
            ++compared;
        }
    }
    CHECK(compared > 0);
}
