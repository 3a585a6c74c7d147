// Complex, exact, rectangular and repeated: every precision on the CPU through the C API, against exact
// permanents over Q(i).
#include "lib/number/block_grids.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/results.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/polled.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

using libperm::Gaussian;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

double exponent(double x) { return x > 0 ? std::log10(x) : -1e300; }

// Lines repeated as the multiplicities say.
GaussianMatrix written_out(const GaussianMatrix &a, const std::vector<std::int64_t> &rows,
                           const std::vector<std::int64_t> &columns) {
    GaussianMatrix written;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::int64_t c = 0; c < rows[i]; ++c) {
            auto &row = written.emplace_back();
            for (std::size_t j = 0; j < columns.size(); ++j)
                row.insert(row.end(), static_cast<std::size_t>(columns[j]), a[i][j]);
        }
    return written;
}

struct Multiplicities {
    std::vector<std::int64_t> rows, columns;
    std::int64_t total = 0;

    Multiplicities(std::int64_t n, std::int64_t most, Random &random)
        : rows(static_cast<std::size_t>(n)), columns(rows.size()) {
        for (std::int64_t &m : rows) total += m = random.integer(0, most);
        std::int64_t left = total;
        for (std::int64_t &m : columns) left -= m = random.integer(0, left);
        columns.back() += left;
    }
};

// A matrix with all its zeros.
Given full(const GaussianMatrix &a) {
    GaussianMatrix stored = a;
    for (auto &row : stored)
        for (Gaussian &x : row) x = {1, 0};
    Given g = given(stored, As::complex);
    g.complex.clear();
    for (const auto &row : a)
        for (const Gaussian &x : row) g.complex.insert(g.complex.end(), {x.re.get_d(), x.im.get_d()});
    g.csr.values = g.complex.data();
    return g;
}

} // namespace

TEST_CASE("complex matrices in every precision by every engine of the CPU") {
    Random random(run::seed(701));
    int complex = 0, certain = 0;
    for (int round = 0; round < run::cases(60); ++round)
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
        perm::Result dd = perm::compute(g.csr, in_precision("auto", "dd"));
        check_gaussian(*dd.raw(), truth);
        perm::Result mpfr = perm::compute(g.csr, in_precision("ryser", "mpfr:400"));
        check_gaussian(*mpfr.raw(), truth);
        if (libperm::is_zero(truth)) continue;
        CHECK(exponent(dd->rel_error_bound) < -22);
        CHECK(exponent(mpfr->rel_error_bound) < -105);
        CHECK(mpfr.text().size() > 200); // both parts
    }
}

TEST_CASE("exact: fractions, long integers, decimals as they are written") {
    Random random(run::seed(703));
    for (int round = 0; round < run::cases(100); ++round) {
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

TEST_CASE("an exact fraction: of MPFR a decimal of all its bits") {
    const auto text = [](double x, double y, const char *precision) {
        const std::int64_t row_ptr[] = {0, 1, 2}, columns[] = {0, 1};
        const double values[] = {x, y};
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = a.nnz = 2;
        a.row_ptr = row_ptr;
        a.col_idx = columns;
        a.values = values;
        const perm::Result r = perm::compute(a, in_precision("auto", precision));
        CHECK(r->exact == 1);
        return r.text();
    };
    for (const char *precision : {"exact", "dd"}) CHECK(text(0.5, 1.5, precision) == "3/4");
    for (const char *precision : {"double", "mpfr:200"})
        CHECK(text(0.5, 1.5, precision) == "7.5000000000000000e-01");
    for (const char *precision : {"exact", "double", "dd", "mpfr:200"}) CHECK(text(4, 1.5, precision) == "6");
    // 1 + 2^-52, squared: 105 bits
    for (const auto &[x, y] : {std::pair(1 + 0x1p-52, 1 + 0x1p-52), std::pair(0x1p-1000, 3 * 0x1p-1000)}) {
        const std::string decimal = text(x, y, "mpfr:200");
        CHECK(decimal.find('e') != decimal.npos);
        CHECK(number_of(decimal).re == mpq_class(x) * mpq_class(y));
    }
}

TEST_CASE("rectangular: the sum over injections") {
    Random random(run::seed(704));
    int compared = 0;
    for (int round = 0; round < run::cases(150); ++round) {
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
    for (int round = 0; round < run::cases(100); ++round) {
        const std::int64_t n = random.integer(1, 5);
        const GaussianMatrix a =
            random_matrix(n, round % 2 ? Complexes::integers : Complexes::complex, random);
        const Multiplicities times(n, 3, random);
        const Gaussian truth = oracle::by_subsets(written_out(a, times.rows, times.columns));
        Given g = given(a, As::complex);
        g.csr.row_multiplicity = times.rows.data();
        g.csr.col_multiplicity = times.columns.data();
        for (const char *precision : {"auto", "double", "dd", "exact"}) {
            CAPTURE(std::string(precision));
            perm::Result r = perm::compute(g.csr, in_precision("auto", precision));
            check_gaussian(*r.raw(), truth);
            CHECK(r->n == times.total);
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
    for (int round = 0; round < run::cases(60); ++round) {
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

TEST_CASE("multiplicities of a plan, with zeros among the values") {
    Random random(run::seed(707));
    int zeros = 0;
    for (int round = 0; round < run::cases(60); ++round) {
        const std::int64_t n = random.integer(1, 4);
        GaussianMatrix a = random_matrix(n, round % 2 ? Complexes::integers : Complexes::complex, random);
        for (auto &row : a)
            for (Gaussian &x : row)
                if (random.chance(0.3)) x = {};
        const Multiplicities times(n, 3, random);
        const Gaussian truth = oracle::by_subsets(written_out(a, times.rows, times.columns));
        zeros += libperm::is_zero(truth);
        Given g = full(a);
        g.csr.row_multiplicity = times.rows.data();
        g.csr.col_multiplicity = times.columns.data();
        for (const char *engine : {"auto", "ryser", "frontier", "tree"})
            for (const char *precision : {"auto", "double", "dd", "exact"}) {
                CAPTURE(std::string(engine));
                CAPTURE(std::string(precision));
                perm_csr pattern = g.csr;
                for (const void *values : {static_cast<const void *>(nullptr), g.csr.values}) {
                    pattern.values = values;
                    const perm::Plan plan(pattern, in_precision(engine, precision));
                    check_gaussian(*plan.execute(g.complex.data()).raw(), truth);
                }
            }
    }
    CHECK(zeros > 0);
}

TEST_CASE("a value that is no number is named as the caller wrote it, even where nobody asks for it") {
    constexpr double bad = std::numeric_limits<double>::quiet_NaN();
    // Columns backwards, row 1 and column 2 left out, row 2 three times.
    const std::int64_t row_ptr[] = {0, 3, 6, 9}, columns[] = {2, 1, 0, 2, 1, 0, 2, 1, 0};
    const std::int64_t rows_count[] = {1, 0, 3}, columns_count[] = {2, 2, 0};
    for (std::size_t k = 0; k < 9; ++k)
        for (const bool repeated : {true, false}) {
            std::vector<double> values(9, 1);
            values[k] = bad;
            perm_csr a = PERM_CSR_INIT;
            a.n_rows = a.n_cols = 3;
            a.nnz = 9;
            a.row_ptr = row_ptr;
            a.col_idx = columns;
            a.values = values.data();
            if (repeated) a.row_multiplicity = rows_count, a.col_multiplicity = columns_count;
            const std::string named =
                "row " + std::to_string(k / 3) + ", column " + std::to_string(columns[k]) + " is NaN";
            perm::Result r;
            CHECK(perm_compute(&a, nullptr, r.raw()) == PERM_BAD_MATRIX);
            CHECK(std::string(perm_last_error()).find(named) != std::string::npos);
            a.values = nullptr;
            const perm::Plan plan(a);
            CHECK_THROWS_AS(plan.execute(values.data()), perm::Error);
            CHECK(std::string(perm_last_error()).find(named) != std::string::npos);
            values[k] = 1;
            perm::Result good = plan.execute(values.data());
            CHECK(good.text() == (repeated ? "24" : "6"));
        }
}

TEST_CASE("bounds and digits far below the range of double") {
    libperm::Outcome outcome;
    set_value(outcome, {libperm::make_scaled(1), libperm::make_scaled(1, -1050)});
    CHECK(outcome.rel_error_bound >= 0x1p-1050);
    CHECK(outcome.rel_error_bound < 0x1.1p-1050);
    set_value(outcome, {libperm::make_scaled(1, 77), libperm::make_scaled(1, -5000)});
    CHECK(outcome.rel_error_bound == std::numeric_limits<double>::denorm_min());
    CHECK_FALSE(outcome.exact);
    outcome.wide = Gaussian{mpq_class(1, 3), 0};
    CHECK(libperm::answer_of(outcome).text.size() > 1528); // 5077 bits

    Random random(run::seed(708));
    for (const int bits : {2000, 20000, 400000}) { // more than 10^5 digits
        GaussianMatrix a = random_matrix(3, Complexes::rationals, random);
        for (auto &row : a)
            for (Gaussian &x : row) x = {1 / mpq_class(random.integer(3, 99)), mpq_class(1, 7)};
        const Gaussian truth = oracle::by_subsets(a);
        Given g = given(a, As::text);
        const std::string precision = "mpfr:" + std::to_string(bits);
        perm_opts opts = in_precision("ryser", precision.c_str());
        opts.without = "all";
        perm::Result r = perm::compute(g.csr, opts);
        CHECK(r->exact == 0);
        CHECK(r->rel_error_bound > 0);
        const int digits = static_cast<int>(bits * std::log10(2)) - 10;
        CHECK(r.text().size() > 2 * static_cast<std::size_t>(digits)); // both parts
        mpz_class power;
        mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(digits));
        const Gaussian value = number_of(r.text());
        CHECK(abs(value.re - truth.re) * mpq_class(power) < abs(truth.re) + abs(truth.im));
        CHECK(abs(value.im - truth.im) * mpq_class(power) < abs(truth.re) + abs(truth.im));
    }
}

TEST_CASE("every digit of integers of more than a million bits") {
    const std::string power = "1e99999";
    const std::vector<const char *> texts(10, power.c_str());
    std::vector<std::int64_t> row_ptr(11), columns(10);
    std::iota(row_ptr.begin(), row_ptr.end(), 0);
    std::iota(columns.begin(), columns.end(), 0);
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 10;
    a.row_ptr = row_ptr.data();
    a.col_idx = columns.data();
    a.values = texts.data();
    a.value_type = PERM_VALUE_TEXT;
    CHECK(perm::compute(a, in_precision("auto", "exact")).text() == "1" + std::string(999990, '0'));

    const libperm::Scaled large{0.75, 2000000};
    CHECK(libperm::to_text(large, libperm::every_digit) ==
          mpz_class(3 * (mpz_class(1) << 1999998)).get_str());
    CHECK(libperm::to_text(libperm::Scaled{0.75, 200000000}, libperm::every_digit).size() < 40);
    CHECK(libperm::to_text(libperm::Scaled{0.75, 1}, libperm::every_digit) == "1.5000000000000000e+00");
    CHECK(libperm::to_text(libperm::Scaled{-0.75, 2}, libperm::every_digit) == "-3");
}

TEST_CASE("overflow without scaling says what to do, and doing it helps") {
    Random random(run::seed(709));
    int refused = 0;
    for (int round = 0; round < 20; ++round) {
        GaussianMatrix a = random_matrix(5, Complexes::complex, random);
        for (auto &row : a)
            for (Gaussian &x : row) x = {x.re * mpq_class(0x1p1000), x.im * mpq_class(0x1p1000)};
        const Gaussian truth = oracle::by_subsets(a);
        Given g = given(a, As::complex);
        for (const char *engine : {"ryser", "frontier", "tree"})
            for (const char *precision : {"double", "dd", "auto"}) {
                perm_opts opts = in_precision(engine, precision);
                check_gaussian(*perm::compute(g.csr, opts).raw(), truth);
                opts.without = "scaling";
                perm::Result r;
                const perm_status status = perm_compute(&g.csr, &opts, r.raw());
                if (status == PERM_OK) {
                    check_gaussian(*r.raw(), truth);
                    continue;
                }
                CHECK(status == PERM_UNSUPPORTED);
                CHECK(std::string(perm_last_error()).find("leave the pass \"scaling\" on") !=
                      std::string::npos);
                ++refused;
            }
    }
    CHECK(refused > 0);
}

TEST_CASE("the long loops around residues can be stopped") {
    Random random(run::seed(710));
    const GaussianMatrix a = random_matrix(60, Complexes::rationals, random);
    int polls = 0;
    std::optional<PolledBy> counted([&polls] { ++polls; });
    const auto polled = [&polls] { return std::exchange(polls, 0); };
    const libperm::IntegerBlock block = libperm::integer_block(full_block(a));
    CHECK(polled() >= 5);
    const std::vector<std::uint64_t> primes = libperm::primes_below(62, 40, true);
    CHECK(polled() >= 40);
    const libperm::Residues residues = libperm::residues_of(block.pattern, block.re, block.im, primes);
    CHECK(polled() >= 40);
    (void)libperm::from_residues(primes, std::vector<std::uint64_t>(primes.size(), 1), true);
    CHECK(polled() >= 40);
    counted.reset();
    const PolledBy stop([] { throw perm::Error(PERM_CANCELLED, ""); });
    CHECK_THROWS_AS(libperm::primes_below(62, 40, true), perm::Error);
}
