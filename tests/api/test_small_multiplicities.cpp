// perm_compute's straight road where rows and columns have multiplicities: against the exact permanent of the
// matrix written out and against the general road, and what it leaves to that.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"
#include "tests/support/small_entries.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <numeric>

using namespace perm::families;
using oracle::Exact, oracle::Gaussian, oracle::GaussianMatrix;

namespace {

using Counts = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_glynn(const perm_result &r) { return r.engine && std::string(r.engine) == "glynn"; }

// Kinds of rows and columns, all entries stored.
struct Kinds {
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values; // pairs of complex ones
    Counts rows, columns;
    bool is_complex = false;

    perm_csr view() const {
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = static_cast<std::int64_t>(rows.size());
        a.n_cols = static_cast<std::int64_t>(columns.size());
        a.nnz = static_cast<std::int64_t>(col.size());
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        a.row_multiplicity = rows.data();
        a.col_multiplicity = columns.data();
        return a;
    }
    GaussianMatrix written() const {
        GaussianMatrix out;
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::int64_t copy = 0; copy < rows[i]; ++copy) {
                auto &row = out.emplace_back();
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    const std::size_t k = i * columns.size() + j;
                    const double re = values[is_complex ? 2 * k : k], im = is_complex ? values[2 * k + 1] : 0;
                    row.insert(row.end(), at(columns[j]), Gaussian{mpq_class(re), mpq_class(im)});
                }
            }
        return out;
    }
};

template <class Entry> Kinds kinds(Counts rows, Counts columns, bool is_complex, const Entry &entry) {
    Kinds a;
    a.rows = std::move(rows);
    a.columns = std::move(columns);
    a.is_complex = is_complex;
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        for (std::size_t j = 0; j < a.columns.size(); ++j) {
            a.col.push_back(static_cast<std::int64_t>(j));
            for (int part = 0; part < (is_complex ? 2 : 1); ++part) a.values.push_back(entry());
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
    }
    return a;
}

// That add up to `total`, each up to `most` but for the last.
Counts counts(std::int64_t total, std::int64_t most, Random &random) {
    Counts out;
    while (total > 0) {
        out.push_back(random.integer(0, std::min(most, total)));
        total -= out.back();
    }
    return out;
}

Gaussian value_with_parts(const perm_result &r) {
    const auto scaled = [&](double mantissa) {
        mpq_class value(mantissa);
        if (r.exp2 >= 0)
            mpq_mul_2exp(value.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(r.exp2));
        else
            mpq_div_2exp(value.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(-r.exp2));
        return value;
    };
    return {scaled(r.mantissa_re), scaled(r.mantissa_im)};
}

// No further from each other than both bounds allow.
void check_near(const perm_result &r, const perm_result &other) {
    const Gaussian x = value_with_parts(r), y = value_with_parts(other);
    const Exact apart = abs(Exact(x.re - y.re)) + abs(Exact(x.im - y.im)), size_of_y = abs(y.re) + abs(y.im);
    const double bound = r.rel_error_bound / (1 - r.rel_error_bound) + other.rel_error_bound + 0x1p-50;
    CHECK(apart <= size_of_y * Exact(1.5 * bound));
}

// The general road's bounds may be below what its 17 digits of text have lost.
bool is_told_by_text(const perm_result &r) {
    return is_glynn(r) || r.rel_error_bound == 0 || r.rel_error_bound > 2e-16;
}

} // namespace

TEST_CASE("kinds of every sort are within their bounds, and exact only where they say so") {
    Random random(run::seed(930));
    int straight = 0, all = 0, exact = 0, met = 0;
    for (int k = 0; k < run::cases(3000) / (run::sanitized ? 3 : 1); ++k) {
        const std::int64_t n = random.integer(1, k % 20 == 0 ? 10 : 7), of = random.integer(0, 7);
        const Kinds a = kinds(counts(n, 5, random), counts(n, 5, random), random.chance(0.6),
                              [&] { return entry(of, random); });
        CAPTURE(of);
        CAPTURE(n);
        perm_opts opts = PERM_OPTS_INIT;
        opts.tolerance = k % 3 == 0 ? 0 : k % 3 == 1 ? 0.5 : 2e-16; // that takes twice the precision
        perm::Result r = perm::compute(a.view(), opts);
        const Gaussian truth = oracle::by_subsets(a.written());
        if (is_told_by_text(*r.raw())) check_gaussian(*r.raw(), truth);
        if (is_glynn(*r.raw()) && !a.is_complex) check_result(*r.raw(), truth.re);
        CHECK(r->n == n);
        ++all;
        straight += is_glynn(*r.raw());
        exact += is_glynn(*r.raw()) && r->exact != 0;
        met += is_glynn(*r.raw()) && r->exact == 0 && truth.re != 0;
    }
    CHECK(straight > all / 2);
    CHECK(exact > 0);
    CHECK(met > all / 4);
}

TEST_CASE("many of each kind agree with the general road, with the same bits each time") {
    Random random(run::seed(931));
    int straight[2] = {0, 0}; // in doubles, mostly, and in twice the precision where it takes that
    for (int k = 0; k < run::cases(60); ++k) {
        const std::int64_t size = random.integer(2, 5), most = size == 2 ? 40 : size == 3 ? 12 : 5;
        Counts rows(at(size)), columns;
        for (std::int64_t &count : rows) count = random.integer(1, most);
        columns = rows;
        std::swap(columns.front(), columns.back());
        --columns.front(), ++columns.back();
        const Kinds a =
            kinds(rows, columns, k % 2 == 0, [&] { return random.uniform(k % 3 == 0 ? 0 : -1, 1); });
        perm_opts loose = PERM_OPTS_INIT, other = PERM_OPTS_INIT;
        loose.tolerance = k % 4 < 2 ? 0.5 : 0;
        other.precision = "dd";
        perm::Result r = perm::compute(a.view(), loose), by_dd = perm::compute(a.view(), other);
        CHECK(!is_glynn(*by_dd.raw()));
        CHECK(r->n == by_dd->n);
        CHECK(r->nnz == by_dd->nnz);
        straight[k % 4 / 2] += is_glynn(*r.raw());
        check_same_bits(*r.raw(), *perm::compute(a.view(), loose).raw());
        if (!is_glynn(*r.raw()) || !informative(*by_dd.raw())) continue;
        check_near(*r.raw(), *by_dd.raw());
    }
    CHECK(straight[0] > run::enough(5));
    CHECK(straight[1] > run::enough(5));
}

TEST_CASE("hundreds of thousands of terms have the same bits on any number of threads") {
    Random random(run::seed(934));
    const Counts all(run::sanitized ? 6 : 7, 5); // 6^7 terms
    Counts other = all;
    ++other[1], --other[3];
    for (const bool is_complex : {false, true})
        for (const double low : {0.1, -1.0}) {
            const Kinds a = kinds(all, other, is_complex, [&] { return random.uniform(low, 1); });
            perm_opts opts = PERM_OPTS_INIT, dd = PERM_OPTS_INIT;
            opts.threads = 1;
            opts.tolerance = 0.5; // twice the precision would take too long
            dd.precision = "dd";
            perm::Result r = perm::compute(a.view(), opts);
            if (low > 0) CHECK(is_glynn(*r.raw()));
            if (!is_glynn(*r.raw())) continue;
            check_near(*r.raw(), *perm::compute(a.view(), dd).raw());
            CHECK(r->threads == 1);
            for (const int threads : {2, 5}) {
                opts.threads = threads;
                check_same_answer(*r.raw(), *perm::compute(a.view(), opts).raw());
            }
        }
}

TEST_CASE("a few photons in each of many modes: modes without any do not count") {
    Random random(run::seed(932));
    Counts rows(40), columns(40);
    for (int k = 0; k < 8; ++k) {
        ++rows[at(random.integer(0, 39))];
        ++columns[at(random.integer(0, 39))];
    }
    const Kinds a = kinds(rows, columns, true, [&] { return random.uniform(-1, 1); });
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "glynn";
    perm::Result r = perm::compute(a.view(), opts);
    CHECK(is_glynn(*r.raw()));
    CHECK(r->n == 8);
    CHECK(r->nnz == 64);
    CHECK(r->threads == 1);
    CHECK(r->subsets > 0);
    check_gaussian(*r.raw(), oracle::by_subsets(a.written()));
}

TEST_CASE("what is not for the straight road is answered, or refused, as ever") {
    Random random(run::seed(933));
    const auto make = [&](Counts rows, Counts columns, double by) {
        return kinds(std::move(rows), std::move(columns), false, [&] { return by * random.uniform(0.5, 1); });
    };
    const auto check = [](const Kinds &a, bool straight) {
        perm::Result r = perm::compute(a.view());
        check_gaussian(*r.raw(), oracle::by_subsets(a.written()));
        CHECK(is_glynn(*r.raw()) == straight);
    };
    check(make({2, 1}, {1, 2}, 1), true);
    check(make({3}, {1, 2}, 1), true);
    check(make({2, 1}, {1, 2}, 1e300), false);
    check(make({2, 1}, {1, 2}, 1e-300), false);
    check(make({2, 1}, {1, 2}, 0), false);
    check(make({0, 0}, {0, 0}, 1), false);

    const Kinds a = make({2, 3}, {4, 1}, 1);
    const Gaussian truth = oracle::by_subsets(a.written());
    const auto with = [&](const auto &change) {
        perm_csr csr = a.view();
        perm_opts opts = PERM_OPTS_INIT;
        change(csr, opts);
        perm::Result r = perm::compute(csr, opts);
        if (is_told_by_text(*r.raw())) check_gaussian(*r.raw(), truth);
        return is_glynn(*r.raw());
    };
    CHECK(with([](perm_csr &, perm_opts &) {}));
    CHECK(with([](perm_csr &, perm_opts &o) { o.precision = "double"; }));
    CHECK(!with([](perm_csr &, perm_opts &o) { o.precision = "dd"; }));
    CHECK(!with([](perm_csr &, perm_opts &o) { o.precision = "exact"; }));
    CHECK(!with([](perm_csr &, perm_opts &o) { o.engine = "ryser"; }));
    CHECK(with([](perm_csr &, perm_opts &o) { o.progress = [](double, double, void *) {}; }));

    perm_opts fine = PERM_OPTS_INIT; // whose text of 17 digits is further from the truth
    fine.tolerance = 1e-17;
    CHECK(!is_glynn(*perm::compute(a.view(), fine).raw()));

    const std::int64_t whole[] = {1, 2, 3, 4};
    perm_csr integers = a.view();
    integers.value_type = PERM_VALUE_I64;
    integers.values = whole;
    CHECK(!is_glynn(*perm::compute(integers).raw()));

    const Kinds wide = make({1, 1}, {2, 1}, 1); // a row of ones below
    CHECK(!is_glynn(*perm::compute(wide.view()).raw()));
    const Kinds tall = make({2, 1}, {1, 1}, 1);
    CHECK(!is_glynn(*perm::compute(tall.view()).raw()));
    CHECK(status_of(make({2, -1}, {1, 0}, 1).view(), PERM_OPTS_INIT) == PERM_BAD_MATRIX);
    Kinds nan = a;
    nan.values[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK(status_of(nan.view(), PERM_OPTS_INIT) == PERM_BAD_MATRIX);
}

TEST_CASE("an explained plan with multiplicities tells whether perm_compute begins with counts") {
    Random random(run::seed(935));
    int straight = 0, others = 0;
    const auto check = [&](Counts rows, Counts columns, bool is_complex) {
        const Kinds a =
            kinds(std::move(rows), std::move(columns), is_complex, [&] { return random.uniform(0.5, 1); });
        const perm::Plan plan(a.view());
        const bool is_told = nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON)).at("straight_road");
        const std::string text = plan.explain(PERM_FORMAT_TEXT);
        perm::Result r = perm::compute(a.view());
        CHECK(is_told == is_glynn(*r.raw()));
        CHECK(is_told == (text.find("straight road: engine glynn") != std::string::npos));
        if (is_told)
            CHECK(text.find(std::to_string(std::llround(r->subsets)) + " terms") != std::string::npos);
        ++(is_told ? straight : others);
    };
    check({2, 1}, {1, 2}, false);
    check({0, 3, 2}, {4, 0, 1}, true);
    check({5, 5, 5, 5}, {20, 0}, true);
    check({60, 1}, {60, 1}, false); // more than 56 of a kind
    check({1, 1}, {2, 1}, false);   // a row of ones below
    for (int k = 0; k < 20; ++k) {
        const std::int64_t n = random.integer(1, 30);
        check(counts(n, 9, random), counts(n, 9, random), k % 2 == 0);
    }
    CHECK(straight > run::enough(10));
    CHECK(others > 1);
}
