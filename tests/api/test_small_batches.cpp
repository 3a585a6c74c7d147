// Batches of small full matrices, which go straight: each as perm_plan_execute and perm_compute answer it,
// and near the exact permanent, wherever it stands and on any number of threads.
#include "bench/families.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/small_entries.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

using namespace perm::families;
using oracle::Exact, oracle::Gaussian, oracle::GaussianMatrix;

namespace {

bool is_glynn(const perm_result &r) { return std::string(r.engine) == "glynn"; }

// A full pattern, and values of many matrices of it.
template <class Number> struct Many {
    std::int64_t n, parts;
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<Number> values;
    perm_csr csr = PERM_CSR_INIT;

    Many(std::int64_t order, perm_value_type type) : n(order), parts(type == PERM_VALUE_C128 ? 2 : 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) col.push_back(j);
            row_ptr.push_back((i + 1) * n);
        }
        csr.n_rows = csr.n_cols = n;
        csr.nnz = n * n;
        csr.row_ptr = row_ptr.data();
        csr.col_idx = col.data();
        csr.value_type = type;
    }
    Many(const Many &) = delete;
    Many &operator=(const Many &) = delete;

    std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / (n * n * parts); }
    const Number *one(std::int64_t k) const { return values.data() + k * n * n * parts; }
    perm_csr matrix(std::int64_t k) const {
        perm_csr a = csr;
        a.values = one(k);
        return a;
    }
    GaussianMatrix exactly(std::int64_t k) const {
        GaussianMatrix a(at(n), std::vector<Gaussian>(at(n)));
        const Number *x = one(k);
        for (auto &row : a)
            for (Gaussian &y : row) {
                if constexpr (std::is_same_v<Number, double>)
                    y = {mpq_class(x[0]), parts == 2 ? mpq_class(x[1]) : mpq_class(0)};
                else
                    y.re = mpz_class(static_cast<long>(*x));
                x += parts;
            }
        return a;
    }
};

// Matrices of every kind, lines of zeros and repeated ones among them.
void add_doubles(Many<double> &many, Random &random) {
    const std::int64_t kind = random.integer(0, entry_kinds - 1), width = many.n * many.parts;
    std::vector<double> a(at(many.n * width));
    for (double &x : a) x = entry(kind, random);
    const auto row = [&] { return a.begin() + random.integer(0, many.n - 1) * width; };
    if (random.chance(0.1)) std::copy_n(row(), width, row());
    if (random.chance(0.1)) std::fill_n(row(), width, 0.0);
    if (random.chance(0.1)) {
        const auto scaled = row();
        const int by = static_cast<int>(random.integer(-1000, 900));
        std::transform(scaled, scaled + width, scaled, [&](double x) { return std::ldexp(x, by); });
    }
    if (many.parts == 2 && random.chance(0.1)) // all real
        for (std::size_t k = 1; k < a.size(); k += 2) a[k] = 0;
    if (std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); }))
        many.values.insert(many.values.end(), a.begin(), a.end());
}

void check_value(const perm_result &r, const Gaussian &truth, bool is_complex) {
    if (!is_complex) {
        check_result(r, truth.re);
        return;
    }
    const bool is_fraction = r.exact != 0 && std::string(r.text).find('e') != std::string::npos;
    if (!is_fraction) {
        check_gaussian(r, truth);
    } else if (r.exp2 > -900 && r.exp2 < 900) { // of which the text is a rounding
        CHECK(mpq_class(r.re) == truth.re);
        CHECK(mpq_class(r.im) == truth.im);
    }
}

struct Seen {
    int straight = 0, all = 0;
};

template <class Number> void check_batch(const Many<Number> &many, const perm_opts &opts, Seen &seen) {
    const PlanOf plan = plan_of(many.csr, opts);
    const std::int64_t count = many.count();
    Results results(count);
    REQUIRE(perm_plan_execute_batch(plan.get(), many.values.data(), many.n * many.n, count,
                                    results.all.data()) == PERM_OK);
    for (std::int64_t k = 0; k < count; ++k) {
        CAPTURE(k);
        perm::Result alone;
        REQUIRE(perm_plan_execute(plan.get(), many.one(k), alone.raw()) == PERM_OK);
        check_as_executed(*alone.raw(), results[k]);
        check_value(*alone.raw(), oracle::by_subsets(many.exactly(k)), many.parts == 2);
        ++seen.all;
        seen.straight += is_glynn(results[k]);
        perm::Result computed = perm::compute(many.matrix(k), opts);
        if (is_glynn(*computed.raw()) && is_glynn(results[k])) {
            check_same_bits(*computed.raw(), *alone.raw());
            CHECK(same(computed->im, alone->im));
            CHECK(same(computed->abs_error_bound, alone->abs_error_bound));
        }
    }
}

} // namespace

TEST_CASE("batches of real and complex matrices of every kind") {
    Random random(run::seed(940));
    Seen seen;
    for (int round = 0; round < run::cases(40) / (run::sanitized ? 3 : 1); ++round)
        for (const perm_value_type type : {PERM_VALUE_F64, PERM_VALUE_C128}) {
            Many<double> many(random.integer(1, round % 10 == 0 ? 9 : 7), type);
            CAPTURE(many.n);
            CAPTURE(type);
            for (std::int64_t k = random.integer(1, 90); k > 0; --k) add_doubles(many, random);
            if (many.count() == 0) continue;
            perm_opts opts = PERM_OPTS_INIT;
            if (random.chance(0.2)) opts.precision = "double";
            if (random.chance(0.2)) opts.tolerance = 1e-14;
            check_batch(many, opts, seen);
        }
    CHECK(seen.straight > seen.all / 3);
}

TEST_CASE("batches of integers have every digit") {
    Random random(run::seed(941));
    Seen seen;
    for (int round = 0; round < run::cases(20) / (run::sanitized ? 3 : 1); ++round) {
        Many<std::int64_t> many(random.integer(1, 8), PERM_VALUE_I64);
        for (std::int64_t k = random.integer(1, 70); k > 0; --k) {
            const std::int64_t most = std::int64_t{1} << random.integer(0, 62);
            for (std::int64_t e = 0; e < many.n * many.n; ++e)
                many.values.push_back(random.chance(0.01)   ? std::numeric_limits<std::int64_t>::min()
                                      : random.chance(0.01) ? std::numeric_limits<std::int64_t>::max()
                                                            : random.integer(-most, most));
        }
        check_batch(many, PERM_OPTS_INIT, seen);
    }
    CHECK(seen.straight > seen.all / 4);
}

TEST_CASE("a matrix has the same bits wherever it stands in a batch, and on any number of threads") {
    Random random(run::seed(942));
    for (const std::int64_t n : {4, 7, 8, 12, 15, 16, 18}) {
        Many<double> many(n, PERM_VALUE_C128);
        const std::int64_t count = n < 12 ? 300 : n < 16 ? 20 : 3;
        for (std::int64_t k = 0; k < count * n * n * 2; ++k) many.values.push_back(random.uniform(-1, 1));
        std::vector<double> turned(many.values.end() - n * n * 2, many.values.end()); // the last one first
        turned.insert(turned.end(), many.values.begin(), many.values.end() - n * n * 2);
        Results first(count);
        for (const int threads : {1, 2, 5}) {
            perm_opts opts = PERM_OPTS_INIT;
            opts.threads = threads;
            const PlanOf plan = plan_of(many.csr, opts);
            Results here(count), there(count);
            const auto run = [&](const std::vector<double> &values, Results &results) {
                REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), n * n, count,
                                                results.all.data()) == PERM_OK);
            };
            run(many.values, here);
            run(turned, there);
            if (threads == 1) run(many.values, first);
            for (std::int64_t k = 0; k < count; ++k) {
                CHECK(is_glynn(here[k]));
                for (const perm_result *other : {&there[(k + 1) % count], &first[k]}) {
                    CHECK(same(here[k].re, other->re));
                    CHECK(same(here[k].im, other->im));
                    CHECK(same(here[k].rel_error_bound, other->rel_error_bound));
                }
            }
        }
    }
}

TEST_CASE("an explained plan tells whether its executions go straight") {
    Random random(run::seed(943));
    for (const std::int64_t n : {3, 4, 8, 16, 20})
        for (const double density : {0.7, 1.0}) {
            const perm::Csr a = erdos_renyi(n, density, Entries::real, random.bits());
            const perm::Plan plan(a);
            const auto json = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON));
            const bool straight = is_glynn(*plan.execute(a.values.data()).raw());
            CHECK(json.at("executes_straight") == straight);
            CHECK(straight == (static_cast<std::int64_t>(a.values.size()) == n * n));
        }
}

TEST_CASE("where only doubles are asked for, what they give is taken") {
    Many<double> many(8, PERM_VALUE_F64);
    Random random(run::seed(944));
    for (int k = 0; k < 64; ++k) many.values.push_back(random.uniform(-1, 1));
    perm_opts opts = PERM_OPTS_INIT;
    opts.tolerance = 1e-20;
    for (const char *precision : {"double", "auto"}) {
        opts.precision = precision;
        const PlanOf plan = plan_of(many.csr, opts);
        perm::Result r;
        REQUIRE(perm_plan_execute(plan.get(), many.one(0), r.raw()) == PERM_OK);
        const bool doubles_alone = precision == std::string("double");
        CHECK(is_glynn(*r.raw()) == doubles_alone);
        if (doubles_alone) CHECK(r->tolerance_met == 0);
    }
}
