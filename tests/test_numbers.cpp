// Complex, exact, rectangular and repeated: every precision on the CPU through the C API, against exact
// permanents over Q(i).
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

using libperm::Gaussian;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

double exponent(double x) { return x > 0 ? std::log10(x) : -1e300; }

} // namespace

TEST_CASE("complex matrices in every precision by every engine of the CPU") {
    Random random(run::seed(701));
    int complex = 0, certain = 0;
    for (int round = 0; round < 60 * run::multiplier(); ++round)
        for (const Complexes entries : {Complexes::complex, Complexes::imaginary, Complexes::integers,
                                        Complexes::cancelling, Complexes::reals}) {
            const GaussianMatrix a = random_matrix(random.integer(1, 8), entries, random);
            const Gaussian truth = oracle::by_subsets(a);
            Given g = given(a, As::complex);
            for (const char *engine : {"auto", "ryser", "frontier", "tree"})
                for (const char *precision : {"auto", "double", "kahan", "dq", "dd", "exact"}) {
                    perm_opts opts = in_precision(engine, precision);
                    if (random.chance(0.5)) opts.without = "all";
                    CAPTURE(std::string(engine));
                    CAPTURE(std::string(precision));
                    perm::Result r = perm::compute(g.csr, opts);
                    check_gaussian(*r.raw(), truth);
                    if (std::string(precision) == "exact") CHECK(r->exact == 1);
                    complex += r->im != 0;
                    certain += r->rel_error_bound < 1e-12;
                }
        }
    CHECK(complex > 1000);
    CHECK(certain > 1000);
}

TEST_CASE("more digits: dd and MPFR") {
    Random random(run::seed(702));
    for (int round = 0; round < 10; ++round) {
        const GaussianMatrix a = random_matrix(10, Complexes::complex, random);
        const Gaussian truth = oracle::by_subsets(a);
        Given g = given(a, As::complex);
        perm::Result twofold = perm::compute(g.csr, in_precision("auto", "dd"));
        check_gaussian(*twofold.raw(), truth);
        perm::Result mpfr = perm::compute(g.csr, in_precision("ryser", "mpfr:400"));
        check_gaussian(*mpfr.raw(), truth);
        if (libperm::is_zero(truth)) continue;
        CHECK(exponent(twofold->rel_error_bound) < -22);
        CHECK(exponent(mpfr->rel_error_bound) < -105);
        CHECK(mpfr.text().size() > 200); // both parts
    }
}

TEST_CASE("exact: fractions, long integers, decimals as they are written") {
    Random random(run::seed(703));
    for (int round = 0; round < 100 * run::multiplier(); ++round) {
        const std::int64_t n = random.integer(1, 8);
        GaussianMatrix a = random_matrix(n, round % 2 ? Complexes::rationals : Complexes::integers, random);
        if (round % 3 == 0) // of 60 digits
            for (auto &row : a)
                for (Gaussian &x : row) x.re *= mpq_class(mpz_class(std::string(60, '3')));
        const Gaussian truth = oracle::by_subsets(a);
        Given g = given(a, As::text);
        for (const char *engine : {"auto", "ryser", "frontier", "tree"}) {
            perm::Result r = perm::compute(g.csr, in_precision(engine, "exact"));
            CHECK(r->exact == 1);
            CHECK(number_of(r.text()) == truth);
        }
        for (const char *precision : {"double", "dd", "mpfr:90"}) {
            perm::Result r = perm::compute(g.csr, in_precision("ryser", precision));
            check_gaussian(*r.raw(), truth);
        }
    }
    const char *tenths[] = {"0.1", "2e-1", "+.3", "1/3"};
    const std::int64_t row_ptr[] = {0, 2, 4}, columns[] = {0, 1, 0, 1};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    a.row_ptr = row_ptr;
    a.col_idx = columns;
    a.values = tenths;
    a.value_type = PERM_VALUE_TEXT;
    CHECK(perm::compute(a, in_precision("auto", "exact")).text() == "7/75"); // 1/30 + 3/50
    for (const char *bad : {"", "x", "1/0", "1e", "1 2 3", "1e1000000", "0x1", "nan", " 1", "1."}) {
        tenths[2] = bad;
        perm::Result r;
        const bool is_number = std::string(bad) == "1.";
        CHECK(perm_compute(&a, nullptr, r.raw()) == (is_number ? PERM_OK : PERM_BAD_MATRIX));
    }
}

TEST_CASE("rectangular: the sum over injections") {
    Random random(run::seed(704));
    int compared = 0;
    for (int round = 0; round < 150 * run::multiplier(); ++round) {
        const std::int64_t n = random.integer(1, 9), m = random.integer(0, n);
        GaussianMatrix square =
            random_matrix(n, round % 2 ? Complexes::integers : Complexes::rationals, random);
        const GaussianMatrix a(square.begin(), square.begin() + m);
        mpz_class ways;
        mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(n - m));
        for (std::int64_t i = m; i < n; ++i)
            for (Gaussian &x : square[static_cast<std::size_t>(i)]) x = {1, 0};
        const Gaussian truth = oracle::by_subsets(square) / Gaussian{mpq_class(ways), 0};
        Given g = given(a, As::text);
        g.csr.n_cols = n;
        for (const char *engine : {"auto", "ryser", "frontier"})
            for (const char *precision : {"auto", "double", "dd", "exact"}) {
                CAPTURE(std::string(engine));
                CAPTURE(std::string(precision));
                perm::Result r = perm::compute(g.csr, in_precision(engine, precision));
                check_gaussian(*r.raw(), truth);
                ++compared;
            }
    }
    CHECK(compared > 0);
}

TEST_CASE("multiplicities: as if each line were written so often") {
    Random random(run::seed(705));
    for (int round = 0; round < 100 * run::multiplier(); ++round) {
        const std::int64_t n = random.integer(1, 5);
        const GaussianMatrix a =
            random_matrix(n, round % 2 ? Complexes::integers : Complexes::complex, random);
        std::vector<std::int64_t> rows(static_cast<std::size_t>(n)), columns(rows.size());
        std::int64_t total = 0;
        for (std::int64_t &m : rows) total += m = random.integer(0, 3);
        std::int64_t left = total;
        for (std::int64_t &m : columns) left -= m = random.integer(0, left);
        columns.back() += left;
        GaussianMatrix written;
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::int64_t c = 0; c < rows[i]; ++c) {
                auto &row = written.emplace_back();
                for (std::size_t j = 0; j < columns.size(); ++j)
                    row.insert(row.end(), static_cast<std::size_t>(columns[j]), a[i][j]);
            }
        const Gaussian truth = oracle::by_subsets(written);
        Given g = given(a, As::complex);
        g.csr.row_multiplicity = rows.data();
        g.csr.col_multiplicity = columns.data();
        for (const char *precision : {"auto", "double", "dd", "exact"}) {
            CAPTURE(std::string(precision));
            perm::Result r = perm::compute(g.csr, in_precision("auto", precision));
            check_gaussian(*r.raw(), truth);
            CHECK(r->n == total);
            perm_csr pattern = g.csr;
            pattern.values = nullptr; // a plan of the pattern knows which lines are equal
            perm::Result planned =
                perm::Plan(pattern, in_precision("auto", precision)).execute(g.complex.data());
            check_gaussian(*planned.raw(), truth);
        }
    }
    // 20 photons in two modes, out of 2^20 subsets 21.
    const GaussianMatrix splitter{{{mpq_class(3, 5), 0}, {0, mpq_class(4, 5)}},
                                  {{0, mpq_class(4, 5)}, {mpq_class(3, 5), 0}}};
    const std::int64_t ten[] = {10, 10};
    Given g = given(splitter, As::text);
    g.csr.row_multiplicity = g.csr.col_multiplicity = ten;
    perm::Result r = perm::compute(g.csr, in_precision("auto", "exact"));
    Gaussian truth; // sum over k of C(10, k)^2 k!^2 (10-k)!^2 a^2k b^(20-2k)... = 10!^2 sum a^(2k) b^(20-2k)
    mpz_class factorial;
    mpz_fac_ui(factorial.get_mpz_t(), 10);
    for (int k = 0; k <= 10; ++k) {
        Gaussian term{mpq_class(1), 0};
        for (int i = 0; i < 2 * k; ++i) term = term * splitter[0][0];
        for (int i = 0; i < 20 - 2 * k; ++i) term = term * splitter[0][1];
        mpz_class choose;
        mpz_bin_uiui(choose.get_mpz_t(), 10, static_cast<unsigned long>(k));
        truth = truth + term * Gaussian{mpq_class(choose * choose), 0};
    }
    // Of the 20! bijections, k rows of the first kind on columns of the first: C(10,k)^2 ways each, times
    // 10! 10! orders.
    truth = truth * Gaussian{mpq_class(factorial * factorial), 0};
    CHECK(number_of(r.text()) == truth);
}

TEST_CASE("precision auto goes on where doubles do not do") {
    Random random(run::seed(706));
    int lost = 0, found = 0;
    for (int round = 0; round < 60 * run::multiplier(); ++round) {
        const GaussianMatrix a = random_matrix(random.integer(2, 8), Complexes::cancelling, random);
        const Gaussian truth = oracle::by_subsets(a);
        Given g = given(a, As::complex);
        perm::Result plain = perm::compute(g.csr, in_precision("auto", "double"));
        perm::Result r = perm::compute(g.csr, in_precision("auto", "auto"));
        check_gaussian(*plain.raw(), truth);
        check_gaussian(*r.raw(), truth);
        lost += plain->tolerance_met == 0;
        found += plain->tolerance_met == 0 && r->tolerance_met != 0;
        CHECK(r->tolerance_met == 1);
    }
    CHECK(lost > 0);
    CHECK(found == lost);
    perm_opts opts = in_precision("auto", "auto");
    opts.tolerance = 1e-60;
    Given g = given(random_matrix(6, Complexes::complex, random), As::complex);
    perm::Result r = perm::compute(g.csr, opts);
    CHECK(r->rel_error_bound <= 1e-60);
}
