// Precision mpfr:BITS as others meet it: which engine has it, what it costs, and that the digits are right.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
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

nlohmann::json explained(const perm_csr &a, const perm_opts &opts) {
    return nlohmann::json::parse(perm::Plan(a, opts).explain(PERM_FORMAT_JSON));
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

TEST_CASE("60 x 60, banded and grids: auto takes the frontier, and all digits agree with the exact number") {
    Random random(run::seed(10701));
    int compared = 0;
    // Of signs at random the sum is about the root of what the terms add up to, 2^200 or so.
    for (const auto &[entries, lost] :
         {std::pair{Complexes::positive, 12}, {Complexes::rationals, 120}, {Complexes::complex, 120}})
        for (const char *precision : {"mpfr:53", "mpfr:200", "mpfr:1000", "mpfr:2000"}) {
            CAPTURE(std::string(precision));
            const Given a = band(60, 3, entries, random);
            const Gaussian truth = number_of(perm::compute(a.csr, in_bits("exact")).text());
            const perm_opts opts = in_bits(precision);
            CHECK(explained(a.csr, opts).at("engine") == "frontier");
            perm::Result r = perm::compute(a.csr, opts);
            check_gaussian(*r.raw(), truth);
            const int bits = std::stoi(std::string(precision).substr(5));
            if (bits >= 200) CHECK(r->rel_error_bound <= std::ldexp(1.0, std::max(lost - bits, -1074)));
            ++compared;
        }
    CHECK(compared == 12);
    const perm::Csr board = grid(12, 10); // order 60
    const perm_opts opts = in_bits("mpfr:200", "frontier");
    perm::Result r = perm::compute(board.view(), opts);
    CHECK(r->exact == 1);
    CHECK(r.text() == perm::compute(board.view(), in_bits("exact")).text());
}

TEST_CASE("the frontier and ryser in MPFR's numbers are one number, real and complex") {
    Random random(run::seed(10702));
    int compared = 0;
    for (int round = 0; round < run::cases(60); ++round) {
        CAPTURE(round);
        const auto kind = static_cast<Complexes>(random.integer(0, 5));
        const GaussianMatrix a = random_matrix(random.integer(1, 9), kind, random);
        const Gaussian truth = oracle::by_subsets(a);
        const Given g = given(a, As::text);
        const std::string precision = "mpfr:" + std::to_string(random.integer(53, 2000));
        for (const char *engine : {"ryser", "frontier"}) {
            perm::Result r = perm::compute(g.csr, in_bits(precision.c_str(), engine));
            check_gaussian(*r.raw(), truth);
            ++compared;
        }
    }
    CHECK(compared > run::enough(100));
}

TEST_CASE("auto takes the quicker one, and says what each takes: more bits more time and memory") {
    const perm::Csr dense = erdos_renyi(16, 1, Entries::real, run::seed(10703)),
                    sparse = banded(40, 2, 2, Entries::real, run::seed(10703));
    CHECK(explained(sparse.view(), in_bits("mpfr:200")).at("engine") == "frontier");
    perm_opts little = in_bits("mpfr:200");
    little.memory_limit_bytes = 200000; // its tables are a megabyte
    CHECK(explained(dense.view(), little).at("engine") == "ryser");
    CHECK(explained(dense.view(), in_bits("mpfr:5000")).at("engine") == "ryser");
    double first_bytes = 0, last_bytes = 0, last_seconds = 0;
    for (const char *precision : {"mpfr:100", "mpfr:500", "mpfr:4096"}) {
        perm_opts opts = in_bits(precision, "frontier");
        const auto j = explained(dense.view(), opts);
        const auto &c = j.at("candidates").at(0);
        CHECK(c.at("bytes").get<double>() >= last_bytes); // states are of two sizes
        CHECK(c.at("seconds").get<double>() > last_seconds);
        last_bytes = c.at("bytes").get<double>();
        last_seconds = c.at("seconds").get<double>();
        if (first_bytes == 0) first_bytes = last_bytes;
    }
    CHECK(last_bytes > 2 * first_bytes);
    perm::Result r;
    perm_opts opts = in_bits("mpfr:4097", "frontier");
    const perm_csr view = sparse.view();
    CHECK(perm_compute(&view, &opts, r.raw()) == PERM_UNSUPPORTED);
    CHECK(std::string(perm_last_error()).find("mpfr:4097") != std::string::npos);
    opts = in_bits("mpfr:200", "tree");
    CHECK(perm_compute(&view, &opts, r.raw()) == PERM_UNSUPPORTED);
    CHECK(std::string(perm_last_error()).find("frontier") != std::string::npos);
    CHECK(perm::compute(erdos_renyi(8, 1, Entries::real, 5).view(), in_bits("mpfr:4097"))->rel_error_bound >=
          0);
}

TEST_CASE("a number of more bits takes more of the memory that there is" * doctest::skip(run::sanitized)) {
    const perm::Csr a = erdos_renyi(13, 0.6, Entries::real, run::seed(10704));
    const perm_csr view = a.view();
    int refused = 0, sliced = 0;
    for (std::int64_t limit = std::int64_t{1} << 12; limit <= std::int64_t{1} << 24; limit *= 2) {
        perm_opts opts = in_bits("mpfr:2000", "frontier");
        opts.memory_limit_bytes = limit;
        perm::Result r;
        const perm_status status = perm_compute(&view, &opts, r.raw());
        CAPTURE(limit);
        CHECK((status == PERM_OK || status == PERM_REFUSED_MEMORY || status == PERM_REFUSED_TIME));
        refused += status == PERM_REFUSED_MEMORY;
        if (status != PERM_OK) continue;
        CHECK(r->peak_bytes <= limit);
        sliced += r->slices > 1;
    }
    CHECK(refused > 0);
    CHECK(sliced > 0);
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
