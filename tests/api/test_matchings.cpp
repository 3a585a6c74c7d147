// Numbers of matchings with so many entries, against counting them by the definition.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

using namespace perm::families;
using oracle::Gaussian;

namespace {

// Row after row, by the sets of used columns: of each the sum over ways to it, which have as many entries as
// it.
std::vector<Gaussian> by_definition(const MatchingMatrix &a) {
    const auto lines = [](std::int64_t count, const std::vector<std::int64_t> &times) {
        std::vector<std::size_t> of;
        for (std::int64_t i = 0; i < count; ++i)
            of.insert(of.end(),
                      times.empty() ? 1 : static_cast<std::size_t>(times[static_cast<std::size_t>(i)]),
                      static_cast<std::size_t>(i));
        return of;
    };
    const std::vector<std::size_t> rows = lines(a.rows(), a.row_times), cols = lines(a.cols, a.col_times);
    std::map<std::uint64_t, Gaussian> sums{{0, {1, 0}}};
    for (const std::size_t i : rows) {
        std::map<std::uint64_t, Gaussian> next = sums;
        for (const auto &[used, sum] : sums)
            for (std::size_t j = 0; j < cols.size(); ++j)
                if ((used >> j & 1) == 0) {
                    Gaussian &to = next[used | std::uint64_t{1} << j];
                    to = to + sum * a.entries[i][cols[j]];
                }
        sums = std::move(next);
    }
    std::vector<Gaussian> numbers(std::min(rows.size(), cols.size()) + 1);
    for (const auto &[used, sum] : sums) {
        const auto edges = static_cast<std::size_t>(std::popcount(used));
        if (edges < numbers.size()) numbers[edges] = numbers[edges] + sum;
    }
    return numbers;
}

std::vector<DrawnKind> all_kinds() {
    std::vector<DrawnKind> kinds = kinds_of_numbers;
    kinds.push_back({"ones", PERM_VALUE_PATTERN, [](Random &) { return real_number(1); }});
    return kinds;
}

} // namespace

TEST_CASE("as many as by the definition") {
    Random random(run::seed(2421));
    int compared = 0;
    for (const DrawnKind &kind : all_kinds())
        for (int i = 0; i < run::cases(60); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            a.row_weights.reset(), a.col_weights.reset();
            if (kind.type == PERM_VALUE_PATTERN) // it cannot have zeros
                for (auto &row : a.entries)
                    for (Gaussian &x : row) x = real_number(1);
            const MatchingInput input(a, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(i);
            const std::vector<Gaussian> truth = by_definition(a);
            for (const char *precision : {"auto", "exact"}) {
                std::vector<perm::Result> found =
                    perm::matchings(input.csr(), in_precision("auto", precision));
                REQUIRE(found.size() == truth.size());
                for (std::size_t k = 0; k < truth.size(); ++k) {
                    CAPTURE(k);
                    check_gaussian(*found[k].raw(), truth[k]);
                    CHECK(found[k]->rel_error_bound <= 1e-15);
                    ++compared;
                }
            }
        }
    CHECK(compared > run::enough(1000));
}

TEST_CASE("of full boards: binomials, and the permanent at the end") {
    const perm::Csr a = constant(12, 1);
    const std::vector<perm::Result> found = perm::matchings(a.view());
    REQUIRE(found.size() == 13);
    mpz_class expected = 1; // C(12, k)^2 k!
    for (unsigned long k = 0; k <= 12; ++k) {
        CHECK(found[k].text() == expected.get_str());
        expected = expected * (12 - k) * (12 - k) / (k + 1);
    }
}

TEST_CASE("sums over subsets as the frontier has it: of one word, of two and of more, with equal lines") {
    Random random(run::seed(2422));
    int compared = 0;
    for (const double most : {1.0, 40.0, 1e12})
        for (int i = 0; i < run::cases(4); ++i) {
            MatchingMatrix a;
            a.cols = random.integer(6, 9);
            a.entries.resize(static_cast<std::size_t>(random.integer(6, 9)));
            for (auto &row : a.entries)
                for (std::int64_t j = 0; j < a.cols; ++j)
                    row.push_back(real_number(std::floor(random.uniform(i % 2 ? -most : 0, most + 1))));
            if (i % 4 > 1) a.col_times.assign(static_cast<std::size_t>(a.cols), 1), a.col_times.front() = 3;
            const MatchingInput input(a, PERM_VALUE_F64, random);
            CAPTURE(most);
            CAPTURE(i);
            const std::vector<perm::Result> sums = perm::matchings(input.csr()),
                                            expected = perm::matchings(input.csr(),
                                                                       in_precision("frontier", "exact"));
            CHECK(std::string(sums[0]->engine) == "ryser");
            REQUIRE(sums.size() == expected.size());
            for (std::size_t k = 0; k < sums.size(); ++k, ++compared)
                CHECK(sums[k].text() == expected[k].text());
        }
    CHECK(compared > run::enough(50));
}

TEST_CASE("of large full boards") {
    const perm::Csr a = constant(40, 1);
    const std::vector<perm::Result> found = perm::matchings(a.view());
    mpz_class expected = 1; // C(40, k)^2 k!
    for (unsigned long k = 0; k <= 40; ++k) {
        CHECK(found[k].text() == expected.get_str());
        expected = expected * (40 - k) * (40 - k) / (k + 1);
    }
}

TEST_CASE("of a staircase: Stirling numbers of the second kind") {
    constexpr std::int64_t n = 50; // the board above the diagonal: r_k = S(n, n - k)
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = i + 1; j < n; ++j) col.push_back(j);
        row_ptr.push_back(std::ssize(col));
    }
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = csr.n_cols = n;
    csr.nnz = std::ssize(col);
    csr.row_ptr = row_ptr.data();
    csr.col_idx = col.data();
    csr.value_type = PERM_VALUE_PATTERN;
    std::vector<mpz_class> stirling(n + 1);
    stirling[0] = 1;
    for (std::size_t m = 1; m <= n; ++m) {
        for (std::size_t k = m; k > 0; --k) stirling[k] = stirling[k] * k + stirling[k - 1];
        stirling[0] = 0;
    }
    const std::vector<perm::Result> found = perm::matchings(csr);
    REQUIRE(found.size() == n + 1);
    for (std::size_t k = 0; k <= n; ++k) CHECK(found[k].text() == stirling[n - k].get_str());
}

namespace {

std::vector<std::string> texts_of(const std::vector<perm::Result> &numbers) {
    std::vector<std::string> texts;
    for (const perm::Result &one : numbers) texts.push_back(one.text());
    return texts;
}

} // namespace

TEST_CASE("of |i - j|, whose structure is lost among lines that stay unmatched") {
    for (const std::int64_t n : {24, 60}) {
        CAPTURE(n);
        std::vector<std::int64_t> row_ptr{0}, col, values, shifted;
        mpz_class sum = 0, squares = 0, of_lines = 0; // of the entries, theirs, and those of the lines' sums
        for (std::int64_t i = 0; i < n; ++i) {
            mpz_class of_line = 0;
            for (std::int64_t j = 0; j < n; ++j) {
                shifted.push_back(std::abs(i - j) + 2);
                if (i == j) continue;
                col.push_back(j);
                values.push_back(std::abs(i - j));
                of_line += values.back();
                squares += values.back() * values.back();
            }
            row_ptr.push_back(std::ssize(col));
            sum += of_line;
            of_lines += of_line * of_line;
        }
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = n;
        a.nnz = std::ssize(col);
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = PERM_VALUE_I64;
        const std::vector<std::string> found = texts_of(perm::matchings(a));
        REQUIRE(found.size() == static_cast<std::size_t>(n) + 1);
        CHECK(found[0] == "1");
        CHECK(found[1] == sum.get_str());
        CHECK(found[2] == mpz_class((sum * sum - 2 * of_lines + squares) / 2).get_str());
        CHECK(found.back() == perm::compute(a).text());
        CHECK(texts_of(perm::Task::load(perm::Task::matchings(a).save()).run()) == found);
        const TemporaryFolder folder;
        const std::string file = folder / "kept";
        perm_opts kept = PERM_OPTS_INIT;
        kept.checkpoint = file.c_str();
        CHECK(texts_of(perm::matchings(a, kept)) == found);
        CHECK(texts_of(perm::matchings(a, kept)) == found); // from there
        mpz_class all = 0;
        for (const std::string &number : found) all += mpz_class(number);
        const std::vector<std::int64_t> ones(static_cast<std::size_t>(n), 1);
        perm_csr free = a;
        free.row_unmatched = free.col_unmatched = ones.data();
        CHECK(perm::compute(free).text() == all.get_str());
        if (n > 24) continue;
        // perm(A + 2 J) = sum_k 2^(n - k) (n - k)! m_k, by sums over subsets
        mpz_class expected = 0, ways = 1;
        for (std::int64_t k = n; k >= 0; --k) {
            expected += ways * mpz_class(found[static_cast<std::size_t>(k)]);
            ways *= 2 * (n - k + 1);
        }
        const perm::Csr pattern = constant(n, 1);
        perm_csr full = pattern.view();
        full.values = shifted.data();
        full.value_type = PERM_VALUE_I64;
        const perm::Result residue = perm::compute(full, in_precision("ryser", "mod:1000003"));
        CHECK(residue.text() == mpz_class(expected % 1000003).get_str());
    }
}

TEST_CASE("the sum over the matchings of a staircase is that of their numbers, however large") {
    constexpr std::int64_t n = 1200, columns = n + 300; // row i has the columns up to i / 3 * 3 + 5
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i / 3 * 3 + 5; ++j) col.push_back(j);
        row_ptr.push_back(std::ssize(col));
    }
    const std::vector<const char *> thirds(col.size(), "2/3");
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = n;
    a.n_cols = columns;
    a.nnz = std::ssize(col);
    a.row_ptr = row_ptr.data();
    a.col_idx = col.data();
    a.values = thirds.data();
    a.value_type = PERM_VALUE_TEXT;
    const std::vector<std::string> numbers = texts_of(perm::matchings(a, in_precision("auto", "exact")));
    const std::vector<const char *> row_weights(n, "5"), col_weights(columns, "1/2");
    a.row_unmatched = row_weights.data();
    a.col_unmatched = col_weights.data();
    mpq_class sum = 0;
    for (const std::string &number : numbers) sum = sum * mpq_class(5, 2) + mpq_class(number);
    mpz_class denominator = 1;
    denominator <<= columns - n; // columns that are more than rows
    CHECK(mpq_class(perm::compute(a, in_precision("auto", "exact")).text()) == sum / denominator);
    const mpz_class prime = 1000003;
    mpz_class inverse;
    sum /= denominator;
    mpz_invert(inverse.get_mpz_t(), sum.get_den_mpz_t(), prime.get_mpz_t());
    mpz_class residue = sum.get_num() * inverse;
    mpz_mod(residue.get_mpz_t(), residue.get_mpz_t(), prime.get_mpz_t());
    CHECK(perm::compute(a, in_precision("auto", "mod:1000003")).text() == residue.get_str());
}

TEST_CASE("of few entries in many lines, of which the others keep out") {
    constexpr std::int64_t n = 100000,
                           count = 50; // disjoint pairs of entries in rows of their own: (1 + 5 x)^50
    std::vector<std::int64_t> row_ptr{0}, col, values;
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; i % 2000 == 7 && j < 2; ++j) {
            col.push_back(n - 2 - i + j);
            values.push_back(2 + j);
        }
        row_ptr.push_back(std::ssize(col));
    }
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = csr.n_cols = n;
    csr.nnz = std::ssize(col);
    csr.row_ptr = row_ptr.data();
    csr.col_idx = col.data();
    csr.values = values.data();
    csr.value_type = PERM_VALUE_I64;
    const std::vector<perm::Result> found = perm::matchings(csr);
    REQUIRE(found.size() == n + 1);
    mpz_class expected = 1, power = 1, sum = 0;
    for (unsigned long k = 0; k <= count + 5; ++k) {
        CHECK(found[k].text() == expected.get_str());
        expected = expected * 5 * (count - std::min<unsigned long>(k, count)) / (k + 1);
    }
    CHECK(found.back().text() == "0");
    // Weights of the lines without entries are factors.
    std::vector<std::int64_t> row_weights(n, 1), col_weights(n, 1);
    row_weights[0] = 3;
    col_weights[n - 1] = 7;
    csr.row_unmatched = row_weights.data();
    csr.col_unmatched = col_weights.data();
    mpz_ui_pow_ui(power.get_mpz_t(), 6, count);
    CHECK(perm::compute(csr).text() == mpz_class(power * 21).get_str());
    csr.nnz = 0;
    std::fill(row_ptr.begin(), row_ptr.end(), 0);
    CHECK(perm::compute(csr).text() == "21");
}

TEST_CASE("misuse is refused") {
    const perm::Csr a = constant(3, 1);
    perm_csr view = a.view();
    std::vector<perm_result> results(4, perm_result PERM_RESULT_INIT);
    CHECK(perm_matchings(&view, nullptr, 3, results.data()) == PERM_BAD_ARGUMENT);
    CHECK(std::string(perm_last_error()).find("4 numbers") != std::string::npos);
    CHECK(perm_matchings(&view, nullptr, 0, results.data()) == PERM_BAD_ARGUMENT);
    CHECK(perm_matchings(&view, nullptr, 4, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_matchings(nullptr, nullptr, 4, results.data()) == PERM_BAD_ARGUMENT);
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "dd";
    CHECK(perm_matchings(&view, &opts, 4, results.data()) == PERM_BAD_OPTION);
    opts.precision = "mod:101";
    CHECK(perm_matchings(&view, &opts, 4, results.data()) == PERM_BAD_OPTION);
    view.row_unmatched = a.values.data();
    CHECK(perm_matchings(&view, nullptr, 4, results.data()) == PERM_BAD_ARGUMENT);
    for (const perm_result &r : results) CHECK(cleared(r));
}
