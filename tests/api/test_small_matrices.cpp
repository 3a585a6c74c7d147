// perm_compute's straight road for small dense matrices, as callers meet it: thousands of matrices of every
// kind against exact permanents, and what it leaves to the general road.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/small_entries.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

using namespace perm::families;
using oracle::Exact, oracle::Gaussian, oracle::GaussianMatrix;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_glynn(const perm_result &r) { return r.engine && std::string(r.engine) == "glynn"; }

// Whole rows and columns times powers of two, lines that repeat others, lines of zeros.
template <class Number> void disturb(std::vector<std::vector<Number>> &a, Random &random) {
    const std::size_t n = a.size();
    const auto line = [&] { return at(random.integer(0, static_cast<std::int64_t>(n) - 1)); };
    const auto times = [](Number &x, const Exact &by) {
        if constexpr (std::is_same_v<Number, double>)
            x *= by.get_d();
        else
            x = x * Gaussian{by, 0};
    };
    if (random.chance(0.2)) { // a multiple of another
        const std::size_t from = line(), to = line();
        for (std::size_t j = 0; j < n; ++j) {
            a[to][j] = a[from][j];
            times(a[to][j], Exact(random.chance(0.5) ? -2 : 1));
        }
    }
    if (random.chance(0.1)) { // two columns that cancel
        const std::size_t from = line(), to = line();
        for (std::size_t i = 0; i < n; ++i) {
            a[i][to] = a[i][from];
            if (i % 2 == 0) times(a[i][to], Exact(-1));
        }
    }
    if (random.chance(0.05)) a[line()].assign(n, Number());
    if (random.chance(0.2)) {
        const std::size_t row = line();
        const double by = std::ldexp(1.0, static_cast<int>(random.integer(-1000, 900)));
        for (Number &x : a[row]) times(x, Exact(by));
    }
}

struct Count {
    int straight = 0, all = 0, inexact = 0;
    void add(const perm_result &r) {
        ++all;
        straight += is_glynn(r);
        inexact += is_glynn(r) && r.exact == 0;
    }
};

bool is_finite(const Dense &a) {
    return std::all_of(a.begin(), a.end(), [](const auto &row) {
        return std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    });
}

} // namespace

TEST_CASE("real matrices of every kind are within their bounds, and exact only where they say so") {
    Random random(run::seed(920));
    Count count;
    for (int k = 0; k < run::cases(10000) / (run::sanitized ? 10 : 1); ++k) {
        const std::int64_t n = random.integer(1, k % 20 == 0 ? 10 : 7),
                           kind = random.integer(0, entry_kinds - 1);
        Dense rows(at(n), std::vector<double>(at(n)));
        for (auto &row : rows)
            for (double &x : row) x = entry(kind, random);
        disturb(rows, random);
        if (!is_finite(rows)) continue;
        const perm::Csr a = from_dense(rows);
        CAPTURE(kind);
        CAPTURE(describe(a));
        perm::Result r = perm::compute(a);
        check_result(*r.raw(), oracle::by_frontier(a));
        count.add(*r.raw());
    }
    CHECK(count.straight > count.all / 3);
    CHECK(count.inexact > 0);
    CHECK(count.straight > count.inexact);
}

TEST_CASE("complex matrices of every kind are within their bounds, and exact only where they say so") {
    Random random(run::seed(921));
    Count count;
    for (int k = 0; k < run::cases(6000) / (run::sanitized ? 10 : 1); ++k) {
        const std::int64_t n = random.integer(1, k % 20 == 0 ? 8 : 6),
                           kind = random.integer(0, entry_kinds - 1);
        GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
        for (auto &row : a)
            for (Gaussian &x : row) x = {mpq_class(entry(kind, random)), mpq_class(entry(kind, random))};
        disturb(a, random);
        Given g = given(a, As::complex);
        if (!std::all_of(g.complex.begin(), g.complex.end(), [](double x) { return std::isfinite(x); }))
            continue;
        std::size_t next = 0; // what doubles make of them
        for (auto &row : a)
            for (Gaussian &x : row)
                if (!libperm::is_zero(x)) {
                    x = {mpq_class(g.complex[next]), mpq_class(g.complex[next + 1])};
                    next += 2;
                }
        CAPTURE(kind);
        CAPTURE(n);
        perm::Result r = perm::compute(g.csr);
        check_gaussian(*r.raw(), oracle::by_subsets(a));
        count.add(*r.raw());
    }
    CHECK(count.straight > count.all / 3);
    CHECK(count.inexact > 0);
    CHECK(count.straight > count.inexact);
}

TEST_CASE("integers have every digit") {
    Random random(run::seed(922));
    Count count;
    for (int k = 0; k < run::cases(4000) / (run::sanitized ? 10 : 1); ++k) {
        const std::int64_t n = random.integer(1, k % 50 == 0 ? 13 : 8);
        const std::int64_t most = std::int64_t{1} << random.integer(0, 62);
        std::vector<std::int64_t> row_ptr{0}, col, values;
        GaussianMatrix exact(at(n), std::vector<Gaussian>(at(n)));
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                if (random.chance(0.1)) continue;
                col.push_back(j);
                values.push_back(random.chance(0.02)   ? std::numeric_limits<std::int64_t>::min()
                                 : random.chance(0.02) ? std::numeric_limits<std::int64_t>::max()
                                                       : random.integer(-most, most));
                exact[at(i)][at(j)].re = mpz_class(static_cast<long>(values.back()));
            }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
        }
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = n;
        a.nnz = static_cast<std::int64_t>(col.size());
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = PERM_VALUE_I64;
        perm::Result r = perm::compute(a);
        const Exact truth = oracle::by_subsets(exact).re;
        check_result(*r.raw(), truth);
        CHECK(r->exact == 1);
        count.add(*r.raw());
        perm_opts exact_ones = PERM_OPTS_INIT;
        exact_ones.precision = "exact";
        perm::Result exactly = perm::compute(a, exact_ones);
        check_same_bits(*r.raw(), *exactly.raw());
        CHECK(is_glynn(*r.raw()) == is_glynn(*exactly.raw()));
        perm_opts doubles = PERM_OPTS_INIT;
        doubles.precision = "double";
        r = perm::compute(a, doubles);
        check_result(*r.raw(), truth);
    }
    CHECK(count.straight > count.all * 9 / 10);
}

TEST_CASE("integers of hundreds of bits agree with another engine, on any number of threads") {
    Random random(run::seed(927));
    for (const auto &[n, bits] :
         {std::pair{8, 62}, {12, 40}, {15, 63}, {16, 3}, {18, 8}, {20, 4}, {20, 62}}) {
        if (run::sanitized && n == 20) continue;
        const std::int64_t most =
            bits == 63 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << bits;
        std::vector<std::int64_t> row_ptr{0}, col, values;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                col.push_back(j);
                values.push_back(bits == 63 && i == j ? std::numeric_limits<std::int64_t>::min()
                                                      : random.integer(-most, most));
            }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
        }
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = n;
        a.nnz = n * n;
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = PERM_VALUE_I64;
        perm_opts ryser = with_engine("ryser");
        ryser.precision = "exact";
        perm::Result r = perm::compute(a), other = perm::compute(a, ryser);
        CHECK(is_glynn(*r.raw()));
        CHECK(r->exact == 1);
        CHECK(r.text() == other.text());
        CHECK(value_of(*r.raw()) == value_of(*other.raw()));
        for (const int threads : {1, 2, 5}) {
            perm_opts some = PERM_OPTS_INIT;
            some.threads = threads;
            check_same_bits(*r.raw(), *perm::compute(a, some).raw());
        }
    }
}

TEST_CASE("a long sum of integers is stopped when it is told to, by a call and by a plan") {
    Random random(run::seed(928));
    std::vector<std::int64_t> row_ptr{0}, col, values;
    for (std::int64_t i = 0; i < 18; ++i) {
        for (std::int64_t j = 0; j < 18; ++j) {
            col.push_back(j);
            values.push_back(random.integer(-1000000000, 1000000000));
        }
        row_ptr.push_back(static_cast<std::int64_t>(col.size()));
    }
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 18;
    a.nnz = 18 * 18;
    a.row_ptr = row_ptr.data();
    a.col_idx = col.data();
    a.values = values.data();
    a.value_type = PERM_VALUE_I64;
    for (const int threads : {1, 2}) {
        int before = 1; // it is asked before the sum begins
        perm_opts opts = PERM_OPTS_INIT;
        opts.threads = threads;
        opts.cancel = [](void *left) { return (*static_cast<int *>(left))-- > 0 ? 0 : 1; };
        opts.cancel_user = &before;
        CHECK(status_of(a, opts) == PERM_CANCELLED);
        before = 1 << 30;
        const perm::Plan plan(a, opts);
        CHECK(is_glynn(*plan.execute(values.data()).raw()));
        before = 0;
        CHECK_THROWS_WITH_AS(plan.execute(values.data()), "cancelled by the caller", perm::Error);
    }
}

TEST_CASE("larger matrices agree with another engine, with the same bits on any number of threads") {
    Random random(run::seed(923));
    for (const std::int64_t n : {12, 14, 16, 17, 18}) {
        for (const Entries entries : {Entries::nonnegative, Entries::real, Entries::counts}) {
            const perm::Csr a = erdos_renyi(n, 0.9, entries, random.bits());
            perm_opts opts = with_engine("frontier");
            opts.precision = entries == Entries::counts ? "exact" : "dd";
            perm::Result other = perm::compute(a, opts), r = perm::compute(a);
            CHECK(is_glynn(*r.raw()));
            for (const int threads : {1, 2, 5}) {
                perm_opts some = PERM_OPTS_INIT;
                some.threads = threads;
                check_same_bits(*r.raw(), *perm::compute(a, some).raw());
            }
            const Exact apart = abs(value_of(*r.raw()) - value_of(*other.raw()));
            CHECK(apart <= Exact(r->abs_error_bound) + Exact(other->abs_error_bound) +
                               abs(value_of(*r.raw())) * Exact(0x1p-52));
        }
    }
}

TEST_CASE("a result of the straight road says what was done") {
    Random random(run::seed(924));
    perm::Csr a = build(9, 9, [&](std::int64_t, std::int64_t) { return random.uniform(-1, 1); });
    a.values[3] = 0; // explicit: does not take part
    perm::Result r = perm::compute(a);
    REQUIRE(is_glynn(*r.raw()));
    CHECK(std::string(r->device) == "cpu");
    CHECK(r->n == 9);
    CHECK(r->nnz == 80);
    CHECK(r->subsets == 256);
    CHECK(r->states == 0);
    CHECK(r->operations > 0);
    CHECK(r->blocks == 1);
    CHECK(r->blocks_computed == 1);
    CHECK(r->threads == 1);
    CHECK(r->tolerance_met == 1);
    CHECK(r->seconds_total >= r->seconds_run);
    CHECK(r->seconds_total > 0);
    // Up to three rows of doubles are summed over permutations.
    double permutations = 1;
    for (std::int64_t n = 1; n <= 3; ++n) {
        permutations *= static_cast<double>(n);
        a = build(n, n, [&](std::int64_t, std::int64_t) { return random.uniform(0.1, 1); });
        r = perm::compute(a);
        REQUIRE(is_glynn(*r.raw()));
        CHECK(r->subsets == permutations);
    }
}

TEST_CASE("a computation and its plan") {
    Random random(run::seed(926));
    const perm::Csr small = build(9, 9, [&](std::int64_t, std::int64_t) { return random.uniform(-1, 1); });
    const perm::Csr sparse = erdos_renyi(24, 0.2, Entries::real, run::seed(927));
    for (const perm::Csr *a : {&small, &sparse})
        for (const char *engine : {"auto", "glynn"}) {
            perm_opts opts = PERM_OPTS_INIT;
            opts.engine = engine;
            if (a == &sparse && engine[0] == 'g') continue; // that is a bad option there
            perm::Result alone = perm::compute(*a, opts), beside;
            const perm::Plan plan = perm::Plan::compute(a->view(), opts, beside);
            check_same_bits(*alone.raw(), *beside.raw());
            CHECK(is_glynn(*beside.raw()) == (a == &small));
            const auto told = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON));
            CHECK(told.at("n") == a->n_rows);
            CHECK(told.at("straight_road") == (a == &small));
            CHECK_FALSE(plan.explain().empty());
            // It may be of other entries than the caller's.
            CHECK_THROWS_WITH_AS(plan.save(), doctest::Contains("perm_plan_create"), perm::Error);
            CHECK_THROWS_WITH_AS(plan.execute(a->values.data()), doctest::Contains("perm_plan_create"),
                                 perm::Error);
            CHECK_THROWS_AS(perm::Task::plan(plan, a->values.data()), perm::Error);
        }
    const perm_csr view = small.view();
    perm::Result r;
    CHECK(perm_compute_with_plan(&view, nullptr, r.raw(), nullptr) == PERM_BAD_ARGUMENT);
    perm_plan *plan = nullptr;
    perm_opts wrong = PERM_OPTS_INIT;
    wrong.engine = "warp";
    CHECK(perm_compute_with_plan(&view, &wrong, r.raw(), &plan) == PERM_BAD_OPTION);
    CHECK(plan == nullptr);
    CHECK(cleared(*r.raw()));
}

TEST_CASE("what the straight road does not serve is answered as ever") {
    Random random(run::seed(925));
    const perm::Csr a = build(7, 7, [&](std::int64_t, std::int64_t) { return random.uniform(-1, 1); });
    const Exact truth = oracle::by_frontier(a);
    const auto check = [&](const std::function<void(perm_opts &)> &change, bool straight) {
        perm_opts opts = PERM_OPTS_INIT;
        change(opts);
        perm::Result r = perm::compute(a, opts);
        check_result(*r.raw(), truth);
        CHECK(is_glynn(*r.raw()) == straight);
    };
    std::vector<double> told;
    const auto progress = [](double fraction, double, void *user) {
        static_cast<std::vector<double> *>(user)->push_back(fraction);
    };
    const auto go_on = [](void *) { return 0; };
    check([](perm_opts &) {}, true);
    check([](perm_opts &o) { o.engine = "auto", o.device = "cpu", o.precision = "double", o.threads = 3; },
          true);
    check([](perm_opts &o) { o.engine = "glynn"; }, true);
    check([](perm_opts &o) { o.tolerance = 1e-12, o.seed = 5, o.time_limit_seconds = INFINITY; }, true);
    check([&](perm_opts &o) { o.cancel = go_on; }, true);
    check([](perm_opts &o) { o.tolerance = 1e-17; }, false);
    check([](perm_opts &o) { o.precision = "dd"; }, false);
    check([](perm_opts &o) { o.engine = "ryser"; }, false);
    check([](perm_opts &o) { o.engine = "frontier"; }, false);
    check([](perm_opts &o) { o.without = "all"; }, false);
    check([](perm_opts &o) { o.decompose = "paper"; }, false);
    check([&](perm_opts &o) { o.progress = progress, o.progress_user = &told; }, true);
    CHECK(told == std::vector<double>{1});

    perm_opts exact = PERM_OPTS_INIT;
    exact.precision = "exact";
    CHECK(!is_glynn(*perm::compute(a, exact).raw()));

    perm_opts cancelled = PERM_OPTS_INIT;
    cancelled.cancel = [](void *) { return 1; };
    CHECK(status_of(a.view(), cancelled) == PERM_CANCELLED);

    perm::Csr wide = a; // a row less
    wide.n_rows = 6;
    wide.row_ptr.pop_back();
    wide.col_idx.resize(at(wide.row_ptr.back()));
    wide.values.resize(wide.col_idx.size());
    CHECK(!is_glynn(*perm::compute(wide).raw()));

    CHECK(!is_glynn(*perm::compute(constant(16, 1)).raw()));                                // equal lines
    CHECK(!is_glynn(*perm::compute(banded(16, 2, 2, Entries::real, random.bits())).raw())); // sparse
}

TEST_CASE("glynn by name, where it cannot answer, says so") {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "glynn";
    CHECK(status_of(banded(16, 2, 2, Entries::real, 1).view(), opts) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("perm_compute") != std::string::npos);
    perm_plan *plan = nullptr;
    const perm::Csr a = constant(4, 0.5);
    const perm_csr csr = a.view();
    CHECK(perm_plan_create(&csr, &opts, &plan) == PERM_BAD_OPTION);
}

TEST_CASE("an explained plan tells whether perm_compute does without it") {
    Random random(run::seed(926));
    const auto tells = [](const perm::Csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
        const perm::Plan plan(a, opts);
        const bool in_words =
            plan.explain(PERM_FORMAT_TEXT).find("straight road: engine glynn") != std::string::npos;
        const auto json = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON));
        CHECK(json.at("straight_road") == in_words);
        CHECK(json.at("straight_engine") == (in_words ? nlohmann::json("glynn") : nlohmann::json(nullptr)));
        // A row of its own where executions take it, by the name that their results tell.
        const bool has_row = plan.explain(PERM_FORMAT_TEXT).find("\nglynn ") != std::string::npos;
        const bool has_table =
            json.at("blocks") > 0; // else the reductions leave nothing to choose an engine for
        CHECK((json.at("executes_straight") == has_row || !has_table));
        if (has_row) CHECK(plan.execute(a.values.data())->engine == std::string("glynn"));
        return in_words;
    };
    perm_opts ryser = PERM_OPTS_INIT;
    ryser.engine = "ryser";
    for (const std::int64_t n : {1, 3, 8, 12, 20, 21})
        for (const double density : {0.2, 1.0}) {
            const perm::Csr a = erdos_renyi(n, density, Entries::real, random.bits());
            const bool straight = is_glynn(*perm::compute(a).raw());
            CHECK((tells(a) == straight || (density < 1 && !straight))); // 0 is the reductions' to find
            CHECK(!tells(a, ryser));
        }
    CHECK(!tells(constant(16, 0.5)));
}
