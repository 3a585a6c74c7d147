// Coefficients of perm(C + x L), against exact interpolation of sums over matchings by their definition.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/polynomials.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

using namespace perm::families;
using oracle::Gaussian;

namespace {

// A linear part for each entry of a matrix, and none for weights.
MatchingMatrix linear_part(const MatchingMatrix &a, const DrawnKind &kind, Random &random) {
    MatchingMatrix linear = a;
    const double density = random.uniform();
    for (auto &row : linear.entries)
        for (Gaussian &x : row)
            x = is_zero(x) || !random.chance(density) ? Gaussian{}
                                                      : kind.draw(random); // where there is an entry
    for (auto *weights : {&linear.row_weights, &linear.col_weights})
        if (*weights) (*weights)->assign((*weights)->size(), Gaussian{});
    return linear;
}

std::int64_t lines_of(std::int64_t count, const std::vector<std::int64_t> &times) {
    return times.empty() ? count : std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

std::vector<Gaussian> truth_of(const MatchingMatrix &a, const MatchingMatrix &linear) {
    const std::int64_t degree = std::min(lines_of(a.rows(), a.row_times), lines_of(a.cols, a.col_times));
    return oracle::interpolated(degree,
                                [&](long x) { return oracle::over_matchings(oracle::moved(a, linear, x)); });
}

std::string bits_of(const std::vector<perm::Result> &results) {
    std::string text;
    for (const perm::Result &r : results) {
        text += r.text();
        for (const double x : {r->re, r->im, r->rel_error_bound, r->abs_error_bound})
            text += " " + std::to_string(std::bit_cast<std::uint64_t>(x));
    }
    return text;
}

std::vector<perm::Result> combined(const perm::Task &task) {
    std::vector<std::string> partials;
    for (std::int64_t k = task.shards(); k-- > 0;) partials.push_back(task.run_shard(k));
    return task.combine(partials);
}

} // namespace

TEST_CASE("as by interpolation: every kind of number, rectangles, weights, multiplicities, precisions") {
    perm_set_log_level(1); // what has no matching is warned of
    Random random(run::seed(3701));
    int compared = 0, met = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int i = 0; i < run::cases(40); ++i) {
            const MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingMatrix linear = linear_part(a, kind, random);
            const MatchingInput input(a, kind.type, random);
            const TypedNumbers beside(numbers_beside(input, linear, false), input.csr().value_type);
            const std::vector<Gaussian> truth = truth_of(a, linear);
            CAPTURE(kind.name);
            CAPTURE(i);
            for (const char *precision : {"auto", "exact", "double", "dd"}) {
                CAPTURE(precision);
                std::vector<perm::Result> found;
                try {
                    found = perm::polynomial(input.csr(), beside.data(), in_precision("auto", precision));
                } catch (const perm::Error &error) { // doubles alone
                    CHECK(error.status() == PERM_UNSUPPORTED);
                    CHECK((precision == std::string("double") || precision == std::string("dd")));
                    continue;
                }
                REQUIRE(found.size() == truth.size());
                for (std::size_t k = 0; k < truth.size(); ++k, ++compared) {
                    CAPTURE(k);
                    check_gaussian(*found[k].raw(), truth[k]);
                    if (precision == std::string("auto")) CHECK(found[k]->tolerance_met == 1);
                    if (precision == std::string("exact")) CHECK(found[k]->exact == 1);
                    met += found[k]->tolerance_met;
                }
            }
        }
    CHECK(compared > run::enough(2000));
    CHECK(met > compared / 2);
}

TEST_CASE("modulo primes: points where there are enough residues, else the exact ones") {
    Random random(run::seed(3702));
    int compared = 0;
    const DrawnKind &kind = kinds_of_numbers[0];
    for (int i = 0; i < run::cases(60); ++i) {
        const MatchingMatrix a = random_matchings(random, kind.draw);
        const MatchingMatrix linear = linear_part(a, kind, random);
        const MatchingInput input(a, kind.type, random);
        const TypedNumbers beside(numbers_beside(input, linear, false), input.csr().value_type);
        const std::vector<Gaussian> truth = truth_of(a, linear);
        for (const std::uint64_t p : {std::uint64_t{3}, std::uint64_t{4611686018427387847}}) {
            const std::string precision = "mod:" + std::to_string(p);
            CAPTURE(i);
            CAPTURE(precision);
            const std::vector<perm::Result> found =
                perm::polynomial(input.csr(), beside.data(), in_precision("auto", precision.c_str()));
            REQUIRE(found.size() == truth.size());
            for (std::size_t k = 0; k < truth.size(); ++k, ++compared) {
                mpz_class residue;
                mpz_fdiv_r(residue.get_mpz_t(), truth[k].re.get_num_mpz_t(), mpz_class(p).get_mpz_t());
                CHECK(found[k].text() == residue.get_str());
            }
        }
    }
    CHECK(compared > run::enough(150));
}

TEST_CASE("sums of the permanents of principal submatrices, of 20 lines, sum to the permanent of I + A") {
    Random random(run::seed(3703));
    const std::int64_t n = 20;
    const perm::Csr a =
        build(n, n, [&](std::int64_t, std::int64_t) { return static_cast<double>(random.integer(1, 8)); });
    std::vector<double> identity(a.values.size());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(i)];
             k < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++k)
            identity[static_cast<std::size_t>(k)] = a.col_idx[static_cast<std::size_t>(k)] == i;
    std::vector<perm::Result> found =
        perm::polynomial(a.view(), identity.data(), in_precision("auto", "exact"));
    REQUIRE(found.size() == 21);
    perm::Csr moved = a;
    for (std::size_t k = 0; k < identity.size(); ++k) moved.values[k] += identity[k];
    mpz_class sum = 0;
    for (const perm::Result &one : found) sum += mpz_class(one.text());
    CHECK(sum.get_str() == perm::compute(moved, in_precision("auto", "exact")).text());
    CHECK(found[0].text() == perm::compute(a, in_precision("auto", "exact")).text());
    CHECK(found[20].text() == "1");

    // By signs, in doubles.
    std::vector<perm::Result> quick = perm::polynomial(a.view(), identity.data());
    CHECK(std::string(quick[3]->engine) == "glynn");
    for (std::size_t k = 0; k < found.size(); ++k) {
        CAPTURE(k);
        CHECK(quick[k]->tolerance_met == 1);
        check_gaussian(*quick[k].raw(), number_of(found[k].text()));
    }
}

TEST_CASE("by signs as exactly: full matrices of doubles, real and complex, with repeated lines") {
    Random random(run::seed(3707));
    int compared = 0, by_signs = 0;
    for (int i = 0; i < run::cases(30); ++i) {
        MatchingMatrix a;
        const std::int64_t kinds_of_lines = random.integer(1, 9), n = random.integer(1, 3);
        a.cols = kinds_of_lines;
        const bool is_complex = random.chance(0.4), is_far = random.chance(0.3);
        const auto draw = [&] {
            const auto part = [&] {
                return random.uniform(-1, 1) *
                       (is_far ? std::exp2(static_cast<double>(random.integer(-12, 12))) : 1);
            };
            return Gaussian{mpq_class(part()), mpq_class(is_complex ? part() : 0)};
        };
        MatchingMatrix linear;
        for (MatchingMatrix *one : {&a, &linear})
            for (std::int64_t row = 0; row < kinds_of_lines; ++row) {
                std::vector<Gaussian> entries;
                for (std::int64_t j = 0; j < a.cols; ++j) entries.push_back(draw());
                one->entries.push_back(std::move(entries));
            }
        if (kinds_of_lines <= 4) {
            a.row_times.assign(static_cast<std::size_t>(kinds_of_lines), n);
            a.col_times = a.row_times;
        }
        const MatchingInput input(a, is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64, random);
        const TypedNumbers beside(numbers_beside(input, linear, false), input.csr().value_type);
        std::vector<perm::Result> exact = perm::polynomial(input.csr(), beside.data(),
                                                           in_precision("auto", "exact")),
                                  found = perm::polynomial(input.csr(), beside.data(),
                                                           in_precision("auto", "double")),
                                  in_dd = perm::polynomial(input.csr(), beside.data(),
                                                           in_precision("auto", "dd"));
        REQUIRE(found.size() == exact.size());
        for (auto *all : {&found, &in_dd}) by_signs += std::string((*all)[0]->engine) == "glynn";
        for (std::size_t k = 0; k < found.size(); ++k, ++compared) {
            CAPTURE(i);
            CAPTURE(k);
            check_gaussian(*found[k].raw(), number_of(exact[k].text()));
            check_gaussian(*in_dd[k].raw(), number_of(exact[k].text()));
            CHECK(in_dd[k]->abs_error_bound <= found[k]->abs_error_bound * 1e-10);
        }
    }
    CHECK(compared > run::enough(100));
    CHECK(by_signs > run::enough(30));
}

TEST_CASE("of all entries, with lines that stay unmatched: the numbers of matchings") {
    Random random(run::seed(3704));
    MatchingMatrix a;
    a.cols = 9;
    a.entries.assign(8, {});
    for (auto &row : a.entries)
        for (std::int64_t j = 0; j < a.cols; ++j)
            row.push_back(real_number(random.chance(0.5) ? static_cast<double>(random.integer(1, 5)) : 0));
    const std::vector<perm::Result> expected =
        perm::matchings(MatchingInput(a, PERM_VALUE_I64, random).csr());
    MatchingMatrix zero = a;
    for (auto &row : zero.entries) row.assign(row.size(), Gaussian{});
    zero.row_weights.emplace(8, real_number(1));
    zero.col_weights.emplace(9, real_number(1));
    MatchingMatrix linear = a;
    linear.row_weights = linear.col_weights.emplace(9, Gaussian{});
    const MatchingInput input = MatchingInput(zero, PERM_VALUE_I64, random);
    if (input.csr().nnz == 72) { // zeros are written
        const TypedNumbers beside(numbers_beside(input, linear, false), input.csr().value_type);
        const std::vector<perm::Result> found = perm::polynomial(input.csr(), beside.data());
        REQUIRE(found.size() == expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) CHECK(found[k].text() == expected[k].text());
    } else {
        CHECK(input.csr().nnz == 0);
    }
}

TEST_CASE("in doubles where exactly takes long, within the bounds of what is exact") {
    Random random(run::seed(3705));
    const perm::Csr a = banded(40, 3, 3, Entries::nonnegative, 1);
    std::vector<double> constant(a.values.size()), linear(a.values.size());
    for (double &x : constant) x = random.uniform(0.5, 1.5);
    for (double &x : linear) x = random.uniform(0, 1);
    perm_csr csr = a.view();
    csr.values = constant.data();
    std::vector<perm::Result> exact = perm::polynomial(csr, linear.data(), in_precision("auto", "exact")),
                              doubles = perm::polynomial(csr, linear.data(), in_precision("auto", "double")),
                              dd = perm::polynomial(csr, linear.data(), in_precision("auto", "dd"));
    int told = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
        CAPTURE(k);
        const Gaussian truth = number_of(exact[k].text());
        CHECK(exact[k]->exact == 1);
        check_gaussian(*doubles[k].raw(), truth);
        check_gaussian(*dd[k].raw(), truth);
        told += doubles[k]->rel_error_bound < 1e-3;
        CHECK(dd[k]->abs_error_bound <= doubles[k]->abs_error_bound * 1e-9);
    }
    CHECK(told > 10);
}

TEST_CASE("shards, and tasks that were saved, have the bits of one call") {
    Random random(run::seed(3706));
    int compared = 0;
    for (const char *precision : {"auto", "double", "exact", "mod:4611686018427387847"}) {
        CAPTURE(precision);
        perm::Csr a = banded(16, 3, 3, Entries::counts, 2);
        std::vector<double> linear(a.values.size());
        for (double &x : a.values) x = static_cast<double>(random.integer(1, 9));
        for (double &x : linear) x = static_cast<double>(random.integer(0, 3));
        const perm_opts opts = in_precision("auto", precision);
        const std::string expected = bits_of(perm::polynomial(a.view(), linear.data(), opts));
        const perm::Task task = perm::Task::polynomial(a.view(), linear.data(), opts);
        CHECK(bits_of(task.run()) == expected);
        CHECK(bits_of(combined(task)) == expected);
        const perm::Task again = perm::Task::load(task.save());
        CHECK(bits_of(again.run()) == expected);
        CHECK(bits_of(combined(again)) == expected);
        ++compared;
    }
    CHECK(compared == 4);
}

TEST_CASE("what is refused says what to do") {
    const perm::Csr a = banded(4, 1, 1, Entries::counts, 3);
    std::vector<double> linear(a.values.size(), 1);
    std::vector<perm_result> results(6, perm_result PERM_RESULT_INIT);
    const auto call = [&](const perm_csr &csr, const void *parts, std::int64_t count, const perm_opts *opts) {
        return perm_polynomial(&csr, parts, opts, count, results.data());
    };
    CHECK(call(a.view(), linear.data(), 5, nullptr) == PERM_OK);
    for (perm_result &r : results) perm_result_clear(&r);
    CHECK(call(a.view(), linear.data(), 4, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(call(a.view(), linear.data(), 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(call(a.view(), nullptr, 5, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_polynomial(nullptr, linear.data(), nullptr, 5, results.data()) == PERM_BAD_ARGUMENT);
    CHECK(perm_polynomial(&(const perm_csr &)a.view(), linear.data(), nullptr, 5, nullptr) ==
          PERM_BAD_ARGUMENT);
    perm_csr pattern = a.view();
    pattern.value_type = PERM_VALUE_PATTERN, pattern.values = nullptr;
    CHECK(call(pattern, linear.data(), 5, nullptr) == PERM_BAD_ARGUMENT);
    linear[3] = std::nan("");
    CHECK(call(a.view(), linear.data(), 5, nullptr) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("linear") != std::string::npos);
    linear[3] = 1;
    for (const char *precision : {"kahan", "dq", "mpfr:100", "mod:4"}) {
        const perm_opts opts = in_precision("auto", precision);
        CHECK(call(a.view(), linear.data(), 5, &opts) == PERM_BAD_OPTION);
    }
    const perm_opts residues = in_precision("auto", "mod:7");
    std::vector<const char *> texts(a.values.size(), "1");
    const std::vector<const char *> ones = texts;
    texts[1] = "1/7";
    perm_csr sevenths = a.view();
    sevenths.values = texts.data();
    sevenths.value_type = PERM_VALUE_TEXT;
    CHECK(call(sevenths, ones.data(), 5, &residues) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("of the batch") == std::string::npos); // there is none
    linear[0] = 1e300, linear[1] = 1e-300;
    const perm_opts doubles = in_precision("auto", "double");
    CHECK(call(a.view(), linear.data(), 5, &doubles) == PERM_UNSUPPORTED);
    CHECK(call(a.view(), linear.data(), 5, nullptr) == PERM_OK);
    for (perm_result &r : results) perm_result_clear(&r);
    const perm::Csr large = banded(400, 3, 3, Entries::nonnegative, 4);
    linear.assign(large.values.size(), 0.1);
    perm_opts opts = in_precision("auto", "exact");
    opts.memory_limit_bytes = 1 << 20;
    std::vector<perm_result> many(401, perm_result PERM_RESULT_INIT);
    const perm_csr csr = large.view();
    CHECK(perm_polynomial(&csr, linear.data(), &opts, 401, many.data()) == PERM_REFUSED_MEMORY);
}

TEST_CASE("entries that no two grids hold go another way than by signs") {
    const std::int64_t n = 20;
    const double tiny = 0x1p-96;
    std::vector<double> linear;
    perm::Csr a =
        build(n, n, [&](std::int64_t i, std::int64_t j) { return (i < 3 && j < 3) || i == j ? 1.0 : 0.0; });
    const double first[3][3] = {{1, 1, 1.37 * tiny}, {1, -1, 1.1 * tiny}, {.75, .5, 1}};
    for (std::size_t i = 0; i < 20; ++i)
        for (auto k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
            const auto j = static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(k)]);
            linear.push_back(i < 3 && j < 3 ? first[i][j] : 1.0);
        }
    std::fill(a.values.begin(), a.values.end(), 0.0);
    for (const char *precision : {"auto", "double", "dd"}) {
        CAPTURE(precision);
        std::vector<perm::Result> found = perm::polynomial(a.view(), linear.data(),
                                                           in_precision("auto", precision)),
                                  exact = perm::polynomial(a.view(), linear.data(),
                                                           in_precision("auto", "exact"));
        for (std::size_t k = 0; k < found.size(); ++k)
            check_gaussian(*found[k].raw(), number_of(exact[k].text()));
    }
}

TEST_CASE("a checkpoint of residues is none of other numbers") {
    const TemporaryFolder folder;
    const std::string file = folder / "kept", of_one = folder / "one";
    perm::Csr a = banded(6, 2, 2, Entries::counts, 7);
    std::vector<double> linear(a.values.size(), 2);
    const auto run = [&](const char *precision) {
        perm_opts opts = in_precision("auto", precision);
        opts.checkpoint = file.c_str();
        std::vector<perm_result> results(7, perm_result PERM_RESULT_INIT);
        const perm_csr csr = a.view();
        const perm_status status = perm_polynomial(&csr, linear.data(), &opts, 7, results.data());
        for (perm_result &r : results) perm_result_clear(&r);
        return status;
    };
    REQUIRE(run("mod:1000003") == PERM_OK);
    for (const char *other : {"auto", "exact", "double", "dd", "mod:7", "mod:1000033"}) {
        CAPTURE(other);
        CHECK(run(other) / 100 == 1);
    }
    perm_opts opts = in_precision("auto", "mod:1000003");
    opts.checkpoint = of_one.c_str();
    perm::compute(a, opts);
    for (const char *other : {"auto", "exact", "double", "mod:7"}) {
        CAPTURE(other);
        opts.precision = other;
        CHECK_THROWS_AS(perm::compute(a, opts), perm::Error);
    }
}

TEST_CASE("a cancelled call stops") {
    const perm::Csr a = banded(120, 6, 6, Entries::nonnegative, 5);
    std::vector<double> linear(a.values.size(), 0.3);
    std::vector<perm_result> results(121, perm_result PERM_RESULT_INIT);
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *) { return 1; };
    const perm_csr csr = a.view();
    CHECK(perm_polynomial(&csr, linear.data(), &opts, 121, results.data()) == PERM_CANCELLED);
}
