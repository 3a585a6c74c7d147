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

perm_opts in_few_bytes(const char *precision = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 4 << 20; // a million entries take more
    opts.precision = precision;
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
        perm::Result r = perm::compute(csr, in_few_bytes("exact"));
        CHECK(r->exact == 1);
        CHECK(r->n == a.columns[0] + a.columns[1]);
        CHECK(r->nnz == r->n * r->n);
        CHECK(std::string(r->engine) == "ryser");
        CHECK(number_of(r->text) == truth);
        nonzero += !libperm::is_zero(truth);

        perm::Result rounded = perm::compute(csr, in_few_bytes());
        check_gaussian(*rounded.raw(), truth);
        CHECK(rounded->tolerance_met == 1);
        CHECK(std::string(rounded->text).size() < 100);
    }
    CHECK(nonzero > 0);
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

TEST_CASE("what is no sum over counts of millions is answered, or refused, as ever") {
    Random random(run::seed(941));
    Case a = some(random, false, 0);
    Case small = a;
    small.rows = {2, 0, 3};
    small.columns = {1, 4};
    check_gaussian(*perm::compute(small.view(PERM_VALUE_F64), in_few_bytes()).raw(), small.permanent());
    Case tall = a;
    tall.rows[0] += 5;
    CHECK(status_of(tall.view(PERM_VALUE_F64)) == PERM_BAD_MATRIX);
    Case bad = a;
    const perm_csr csr = bad.view(PERM_VALUE_F64);
    bad.values[2] = std::numeric_limits<double>::quiet_NaN();
    CHECK(status_of(csr) == PERM_BAD_MATRIX);
    perm_opts stopped = in_few_bytes();
    stopped.cancel = [](void *) { return 1; };
    CHECK(status_of(a.view(PERM_VALUE_F64), stopped) == PERM_CANCELLED);
}
