// Precision mpfr:BITS: that the digits are right, of every engine.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Gaussian, oracle::GaussianMatrix;

namespace {

perm_opts in_bits(const char *precision, const char *engine = "auto") {
    perm_opts opts = in_precision(engine, precision);
    opts.device = "cpu";
    opts.threads = 2;
    return opts;
}

// A band of complex numbers, or of fractions that no double is.
Given band(std::int64_t n, std::int64_t half, Complexes entries, Random &random) {
    GaussianMatrix a(static_cast<std::size_t>(n), std::vector<Gaussian>(static_cast<std::size_t>(n)));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = std::max<std::int64_t>(0, i - half); j < std::min(n, i + half + 1); ++j)
            a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = random_complex(entries, random);
    return given(a, As::text);
}

} // namespace

TEST_CASE("60 x 60: rounded to so many bits, whatever was lost on the way; whole numbers are whole") {
    Random random(run::seed(10701));
    int compared = 0;
    for (const Complexes entries : {Complexes::positive, Complexes::rationals, Complexes::complex})
        for (const int bits : {53, 200, 1000, 2000}) {
            const std::string precision = "mpfr:" + std::to_string(bits);
            CAPTURE(precision);
            const Given a = band(60, 3, entries, random);
            const Gaussian truth = number_of(perm::compute(a.csr, in_bits("exact")).text());
            perm::Result r = perm::compute(a.csr, in_bits(precision.c_str()));
            check_gaussian(*r.raw(), truth);
            CHECK(r->rel_error_bound <= std::ldexp(1.0, std::max(1 - bits, -1074)));
            CHECK(r.text().find('/') == std::string::npos);
            ++compared;
        }
    CHECK(compared == 12);
    const perm::Csr board = grid(12, 10); // order 60
    perm::Result r = perm::compute(board.view(), in_bits("mpfr:200", "frontier"));
    CHECK(r->exact == 1);
    CHECK(r.text() == perm::compute(board.view(), in_bits("exact")).text());
}

TEST_CASE("every engine has it, real and complex") {
    Random random(run::seed(10702));
    int compared = 0;
    for (int round = 0; round < run::cases(60); ++round) {
        CAPTURE(round);
        const auto kind = static_cast<Complexes>(random.integer(0, 5));
        const GaussianMatrix a = random_matrix(random.integer(1, 9), kind, random);
        const Gaussian truth = oracle::by_subsets(a);
        const Given g = given(a, As::text);
        const std::string precision = "mpfr:" + std::to_string(random.integer(53, 6000));
        for (const char *engine : {"ryser", "frontier", "tree"}) {
            perm::Result r = perm::compute(g.csr, in_bits(precision.c_str(), engine));
            check_gaussian(*r.raw(), truth);
            ++compared;
        }
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("values far beyond doubles") {
    constexpr std::int64_t n = 30;
    std::vector<std::int64_t> row_ptr{0}, columns;
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < n; ++i) {
        for (const std::int64_t j : {i, (i + 1) % n, (i + 7) % n}) {
            columns.push_back(j);
            texts.push_back(std::to_string(i + 1) + "e" +
                            std::to_string((i % 3 - 1) * 30000 + 7000 * (j % 2)));
        }
        row_ptr.push_back(std::ssize(columns));
    }
    std::vector<const char *> values;
    for (const std::string &text : texts) values.push_back(text.c_str());
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = n;
    a.nnz = std::ssize(columns);
    a.row_ptr = row_ptr.data();
    a.col_idx = columns.data();
    a.values = values.data();
    a.value_type = PERM_VALUE_TEXT;
    const Gaussian truth = number_of(perm::compute(a, in_bits("exact")).text());
    perm::Result r = perm::compute(a, in_bits("mpfr:300", "frontier"));
    CHECK(r->rel_error_bound < 1e-85);
    check_gaussian(*r.raw(), truth);
}
