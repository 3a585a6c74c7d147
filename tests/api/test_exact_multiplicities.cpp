// Few kinds of lines, many of each: what would have millions of entries is summed over counts, exactly and
// without being written out. Against coefficients of products of linear polynomials.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace perm::families;
using oracle::Exact, oracle::Gaussian;

namespace {

using Counts = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

mpz_class factorial(std::int64_t n) {
    mpz_class f;
    mpz_fac_ui(f.get_mpz_t(), static_cast<unsigned long>(n));
    return f;
}

// Rows of two kinds of columns, of small Gaussian integers over 4.
struct Case {
    Counts rows, columns;
    std::vector<std::int64_t> re, im; // by row, by column

    std::vector<std::int64_t> row_ptr, col;
    std::vector<double> values;

    perm_csr view(perm_value_type type) {
        row_ptr.assign(1, 0);
        col.clear();
        values.clear();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (const std::int64_t j : {1, 0}) { // as nobody writes them
                col.push_back(j);
                values.push_back(0.25 * static_cast<double>(re[2 * i + at(j)]));
                if (type == PERM_VALUE_C128) values.push_back(0.25 * static_cast<double>(im[2 * i + at(j)]));
            }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
        }
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = static_cast<std::int64_t>(rows.size());
        a.n_cols = 2;
        a.nnz = 2 * a.n_rows;
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = type;
        a.row_multiplicity = rows.data();
        a.col_multiplicity = columns.data();
        return a;
    }

    // c_0! c_1! times the coefficient of x^c_0 in prod_i (a_i0 x + a_i1)^r_i, and with rows of ones below.
    Gaussian permanent() const {
        const std::int64_t n = columns[0] + columns[1];
        std::vector<mpz_class> p{1}, q{0};                                       // re, im
        const auto multiply = [&](long a, long b, long c, long d) {              // (a + bi) x + (c + di)
            const std::size_t size = std::min(p.size() + 1, at(columns[0]) + 1); // no higher power counts
            std::vector<mpz_class> x(size), y(size);
            for (std::size_t k = 0; k < size; ++k) {
                if (k > 0) x[k] += a * p[k - 1] - b * q[k - 1], y[k] += a * q[k - 1] + b * p[k - 1];
                if (k < p.size()) x[k] += c * p[k] - d * q[k], y[k] += c * q[k] + d * p[k];
            }
            p = std::move(x);
            q = std::move(y);
        };
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::int64_t copy = 0; copy < rows[i]; ++copy)
                multiply(re[2 * i], im[2 * i], re[2 * i + 1], im[2 * i + 1]);
        const std::int64_t given = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
        for (std::int64_t i = given; i < n; ++i) multiply(1, 0, 1, 0);
        mpz_class quarters = 1;
        quarters <<= static_cast<mp_bitcnt_t>(2 * given);
        const Exact by(factorial(columns[0]) * factorial(columns[1]), quarters * factorial(n - given));
        Exact factor = by;
        factor.canonicalize();
        return {factor * p[at(columns[0])], factor * q[at(columns[0])]};
    }
};

Case some(Random &random, bool is_complex, std::int64_t ones) {
    Case a;
    const std::int64_t n = random.integer(1030, 1100), first = random.integer(1, n - ones - 1);
    a.rows = {first, 0, n - ones - first};
    const std::int64_t left = random.integer(1, 4);
    a.columns = {left, n - left};
    for (int k = 0; k < 6; ++k) {
        a.re.push_back(random.integer(-9, 9) | 1);
        a.im.push_back(is_complex ? random.integer(-9, 9) : 0);
    }
    return a;
}

perm_opts in_few_bytes(const char *precision = nullptr, const char *engine = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 4 << 20; // a million entries take more
    opts.precision = precision;
    opts.engine = engine;
    return opts;
}

} // namespace

TEST_CASE("many of two kinds: exact, real and complex, with rows of ones, in little memory") {
    Random random(run::seed(940));
    int nonzero = 0;
    for (int k = 0; k < (run::sanitized ? 4 : 12) * run::multiplier(); ++k) {
        const bool is_complex = k % 2 == 1;
        Case a = some(random, is_complex, k % 4 < 2 ? 0 : random.integer(1, 30));
        const Gaussian truth = a.permanent();
        const perm_csr csr = a.view(is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64);
        for (const char *engine : {"auto", "ryser"}) { // a coefficient, and a sum modulo primes
            perm::Result r = perm::compute(csr, in_few_bytes("exact", engine));
            CHECK(r->exact == 1);
            CHECK(r->n == a.columns[0] + a.columns[1]);
            CHECK(r->nnz == r->n * r->n);
            CHECK(std::string(r->engine) == (engine == std::string("auto") ? "none" : "ryser"));
            CHECK(number_of(r->text) == truth);
        }
        nonzero += !libperm::is_zero(truth);

        perm::Result rounded = perm::compute(csr, in_few_bytes());
        check_gaussian(*rounded.raw(), truth);
        CHECK(rounded->tolerance_met == 1);
        CHECK(std::string(rounded->text).size() < 100);
    }
    CHECK(nonzero > 0);
}

TEST_CASE("two kinds of columns, or of rows, and several of the others, with zeros") {
    Random random(run::seed(942));
    int nonzero = 0;
    for (int k = 0; k < (run::sanitized ? 20 : 200) * run::multiplier(); ++k) {
        const bool is_complex = k % 2 == 1;
        Case a;
        const std::int64_t kinds = random.integer(1, 5), n = random.integer(130, 170);
        std::int64_t left = n - random.integer(0, 1) * random.integer(0, 9); // rows of ones below, or none
        for (std::int64_t i = 0; i < kinds; ++i) {
            a.rows.push_back(i + 1 == kinds ? left : random.integer(0, left));
            left -= a.rows.back();
        }
        const std::int64_t first = random.integer(0, n);
        a.columns = {first, n - first};
        for (std::int64_t e = 0; e < 2 * kinds; ++e) {
            const bool is_there = random.integer(0, 7) > 0;
            a.re.push_back(is_there ? random.integer(-9, 9) : 0);
            a.im.push_back(is_there && is_complex ? random.integer(-9, 9) : 0);
        }
        const Gaussian truth = a.permanent();
        perm_csr csr = a.view(is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64);
        perm_opts opts = PERM_OPTS_INIT;
        opts.precision = "exact";
        CHECK(number_of(perm::compute(csr, opts)->text) == truth);
        nonzero += !libperm::is_zero(truth);
        if (std::accumulate(a.rows.begin(), a.rows.end(), std::int64_t{0}) < n) continue;

        std::vector<std::int64_t> row_ptr{0, kinds, 2 * kinds}, col; // the transpose
        std::vector<double> values;
        for (std::size_t j = 0; j < 2; ++j)
            for (std::size_t i = 0; i < at(kinds); ++i) {
                col.push_back(static_cast<std::int64_t>(i));
                values.push_back(0.25 * static_cast<double>(a.re[2 * i + j]));
                if (is_complex) values.push_back(0.25 * static_cast<double>(a.im[2 * i + j]));
            }
        csr.n_rows = 2;
        csr.n_cols = kinds;
        csr.row_ptr = row_ptr.data();
        csr.col_idx = col.data();
        csr.values = values.data();
        csr.row_multiplicity = a.columns.data();
        csr.col_multiplicity = a.rows.data();
        CHECK(number_of(perm::compute(csr, opts)->text) == truth);
    }
    CHECK(nonzero > 0);
}

namespace {

struct Square { // 2x2, of equally many of each
    double values[4];
    std::int64_t counts[2], row_ptr[3] = {0, 2, 4}, col[4] = {0, 1, 0, 1};

    Square(double a, double b, double c, double d, std::int64_t count)
        : values{a, b, c, d}, counts{count, count} {}

    perm_csr view() const {
        perm_csr csr = PERM_CSR_INIT;
        csr.n_rows = csr.n_cols = 2;
        csr.nnz = 4;
        csr.row_ptr = row_ptr;
        csr.col_idx = col;
        csr.values = values;
        csr.value_type = PERM_VALUE_F64;
        csr.row_multiplicity = csr.col_multiplicity = counts;
        return csr;
    }
};

} // namespace

TEST_CASE("8000 of each of two kinds by their closed forms") {
    const std::int64_t count = run::sanitized ? 600 : 8000;
    const Square ones(1, 1, 1, 1, count);
    CHECK(mpz_class(perm::compute(ones.view())->text) == factorial(2 * count));

    // (m!)^2 sum over k of C(m, k)^2 (a d)^k (b c)^(m - k)
    const Square square(3, -5, 7, 2, count);
    mpz_class sum, choices = 1, power = 1;
    std::vector<mpz_class> powers{1}; // of b c
    for (std::int64_t k = 0; k < count; ++k) powers.push_back(powers.back() * -35);
    for (std::int64_t k = 0; k <= count; ++k) {
        sum += choices * choices * power * powers[at(count - k)];
        power *= 6;
        choices = choices * static_cast<long>(count - k) / static_cast<long>(k + 1);
    }
    sum *= factorial(count) * factorial(count);
    const perm::Result r = perm::compute(square.view());
    CHECK(r->exact == 1);
    CHECK(mpz_class(r->text) == sum);
}

TEST_CASE("integers keep every digit, on any number of threads") {
    const std::int64_t count = 1200, row_ptr[] = {0, 1}, col[] = {0}, three[] = {3};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 1;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.values = three;
    a.value_type = PERM_VALUE_I64;
    a.row_multiplicity = a.col_multiplicity = &count;
    mpz_class truth;
    mpz_ui_pow_ui(truth.get_mpz_t(), 3, static_cast<unsigned long>(count));
    truth *= factorial(count);
    perm_opts opts = in_few_bytes();
    perm::Result r = perm::compute(a, opts);
    CHECK(r->exact == 1);
    CHECK(mpz_class(r->text) == truth);
    opts.threads = 1;
    CHECK(perm::compute(a, opts).text() == r.text());

    const std::int64_t wide = 1205; // five rows of ones
    a.col_multiplicity = &wide;
    mpz_class ways = truth;
    for (std::int64_t k = count + 1; k <= wide; ++k) ways *= static_cast<long>(k);
    ways /= factorial(5);
    CHECK(mpz_class(perm::compute(a, in_few_bytes()).text()) == ways);
}

TEST_CASE("what is no sum over counts of millions is answered, or refused, as ever" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(941));
    Case a = some(random, false, 0);
    Case small = a;
    small.rows = {2, 0, 3};
    small.columns = {1, 4};
    check_gaussian(*perm::compute(small.view(PERM_VALUE_F64), in_few_bytes()).raw(), small.permanent());
    Case tall = a;
    tall.rows[0] += 5;
    CHECK(status_of(tall.view(PERM_VALUE_F64)) == PERM_OK); // as its transpose
    Case bad = a;
    const perm_csr csr = bad.view(PERM_VALUE_F64);
    bad.values[2] = std::numeric_limits<double>::quiet_NaN();
    CHECK(status_of(csr) == PERM_BAD_MATRIX);
    perm_opts stopped = in_few_bytes();
    stopped.cancel = [](void *) { return 1; };
    CHECK(status_of(a.view(PERM_VALUE_F64), stopped) == PERM_CANCELLED);
}

TEST_CASE("a long recurrence is stopped when it is told to, and refused what it has no memory for") {
    const Square square(0.3, 0.7, 0.45, -0.21, 20000);
    int asked = 0;
    perm_opts cancelled = PERM_OPTS_INIT;
    cancelled.cancel = [](void *times) { return ++*static_cast<int *>(times) > 2 ? 1 : 0; };
    cancelled.cancel_user = &asked;
    CHECK(status_of(square.view(), cancelled) == PERM_CANCELLED);
    asked = 0;
    cancelled.engine = "ryser"; // modulo primes
    cancelled.memory_limit_bytes = 4 << 20;
    const std::int64_t columns[] = {1, 19999};
    const Square rows(3, 5, 7, -2, 10000); // some ten seconds
    perm_csr few = rows.view();
    few.col_multiplicity = columns;
    CHECK(status_of(few, cancelled) == PERM_CANCELLED);
    perm_opts brief = PERM_OPTS_INIT;
    brief.time_limit_seconds = 0.05;
    CHECK(status_of(square.view(), brief) == PERM_REFUSED_TIME);
    perm_opts small = PERM_OPTS_INIT;
    small.memory_limit_bytes = 1 << 20;
    CHECK(status_of(Square(0.3, 0.7, 0.45, -0.21, 60000).view(), small) == PERM_REFUSED_MEMORY);
}

// Of a full matrix as it is written, against its kinds of lines with their numbers.
TEST_CASE("equal lines of a large full matrix are merged at once, whatever the values are") {
    Random random(run::seed(0x6d657267));
    constexpr std::int64_t n = 520;
    for (const std::int64_t kinds : {1, 2, 3})
        for (const perm_value_type type :
             {PERM_VALUE_F64, PERM_VALUE_C128, PERM_VALUE_I64, PERM_VALUE_PATTERN}) {
            CAPTURE(kinds);
            CAPTURE(type);
            const bool is_pattern = type == PERM_VALUE_PATTERN;
            const std::size_t parts = type == PERM_VALUE_C128 ? 2 : 1;
            Counts of_row, of_column;
            for (std::int64_t k = 0; k < n; ++k) {
                of_row.push_back(k < kinds ? k : random.integer(0, kinds - 1));
                of_column.push_back(k % 2);
            }
            for (std::int64_t k = n - 1; k > 0; --k)
                std::swap(of_row[at(k)], of_row[at(random.integer(0, k))]);
            std::vector<double> value;
            for (std::size_t k = 0; k < at(2 * kinds) * parts; ++k)
                value.push_back(is_pattern ? 1 : static_cast<double>(random.integer(1, 5)));
            const auto put = [&](std::vector<double> &values, std::vector<std::int64_t> &wholes,
                                 std::int64_t r, std::int64_t c) {
                for (std::size_t part = 0; part < parts; ++part)
                    values.push_back(value[at(2 * r + c) * parts + part]);
                wholes.push_back(static_cast<std::int64_t>(values.back()));
            };
            const auto view = [&](std::int64_t rows, std::int64_t columns, Counts &row_ptr, Counts &col,
                                  std::vector<double> &values, Counts &wholes, const auto &kind_of_row,
                                  const auto &kind_of_column) {
                row_ptr.push_back(0);
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t j = 0; j < columns; ++j) {
                        // Of a pattern of two kinds of rows, the second lacks the second kind of columns.
                        if (is_pattern && kind_of_row(i) == 1 && kind_of_column(j) == 1) continue;
                        col.push_back(j);
                        put(values, wholes, kind_of_row(i), kind_of_column(j));
                    }
                    row_ptr.push_back(std::ssize(col));
                }
                perm_csr a = PERM_CSR_INIT;
                a.n_rows = rows;
                a.n_cols = columns;
                a.nnz = std::ssize(col);
                a.row_ptr = row_ptr.data();
                a.col_idx = col.data();
                a.value_type = type;
                if (type == PERM_VALUE_I64)
                    a.values = wholes.data();
                else if (!is_pattern)
                    a.values = values.data();
                return a;
            };
            Counts row_ptr, col, wholes, few_row_ptr, few_col, few_wholes;
            std::vector<double> values, few_values;
            const perm_csr written = view(
                n, n, row_ptr, col, values, wholes, [&](std::int64_t i) { return of_row[at(i)]; },
                [&](std::int64_t j) { return of_column[at(j)]; });
            const auto itself = [](std::int64_t k) { return k; };
            perm_csr few = view(kinds, 2, few_row_ptr, few_col, few_values, few_wholes, itself, itself);
            Counts rows(at(kinds), 0), columns{n / 2, n / 2};
            for (const std::int64_t r : of_row) ++rows[at(r)];
            few.row_multiplicity = rows.data();
            few.col_multiplicity = columns.data();
            perm_opts opts = PERM_OPTS_INIT;
            opts.device = "cpu";
            const perm::Result here = perm::compute(written, opts), right = perm::compute(few, opts);
            CHECK(here.text() == right.text());
            CHECK(here->exact == right->exact);
            CHECK(here->nnz == written.nnz);
            CHECK(here->n == n);
            if (kinds == 1 && is_pattern) CHECK(here.text() == factorial(n).get_str());
        }
}

TEST_CASE("what is at fault in a large full matrix is named by the caller's lines") {
    constexpr std::int64_t n = 520;
    perm::Csr a = constant(n, 2);
    const auto told = [&] {
        perm::Result r;
        const perm_csr view = a.view();
        CHECK(perm_compute(&view, nullptr, r.raw()) == PERM_BAD_MATRIX);
        return std::string(perm_last_error());
    };
    for (std::int64_t i = 100; i < 103; ++i)
        a.values[at(i * n + 7)] = std::numeric_limits<double>::quiet_NaN();
    CHECK(told().find("row 100, column 7") != std::string::npos);
    a = constant(n, 2);
    for (std::int64_t i = 0; i < n; ++i) a.col_idx[at(i * n + 7)] = 8; // of each row alike
    CHECK(told().find("duplicate entry: row 0 holds column 8 twice") != std::string::npos);
}
