// perm_plan_execute_batch and the tape that small plans run from: every matrix as perm_plan_execute answers
// it, both held against exact permanents.
#include "bench/families.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

// The bounds hold for what the text says, where that is more than doubles hold, else for mantissas and
// exponent.
void check_complex(const perm_result &r, const oracle::Gaussian &truth) {
    CAPTURE(std::string(r.text));
    const auto scaled = [&](double mantissa) {
        perm_result part = PERM_RESULT_INIT;
        part.mantissa_re = mantissa;
        part.exp2 = r.exp2;
        return value_of(part);
    };
    const auto squared = [](const oracle::Gaussian &x) { return Exact(x.re * x.re + x.im * x.im); };
    const auto apart = [](const oracle::Gaussian &x, const oracle::Gaussian &y) {
        return oracle::Gaussian{Exact(x.re - y.re), Exact(x.im - y.im)};
    };
    const oracle::Gaussian rounded{scaled(r.mantissa_re), scaled(r.mantissa_im)}, told = number_of(r.text);
    CHECK(squared(apart(rounded, told)) <= Exact(0x1p-104) * squared(told));
    const Exact error = std::min(squared(apart(rounded, truth)), squared(apart(told, truth)));
    CHECK((r.exact == 1) == (r.rel_error_bound == 0));
    if (r.exact != 0) CHECK(error == 0);
    const Exact slack = 1 + Exact(0.2); // the text has a digit more than is certain
    if (std::isfinite(r.rel_error_bound))
        CHECK(error <= slack * Exact(r.rel_error_bound) * Exact(r.rel_error_bound) * squared(truth));
    if (std::isfinite(r.abs_error_bound))
        CHECK(error <= slack * Exact(r.abs_error_bound) * Exact(r.abs_error_bound));
}

constexpr Way ways[] = {{"auto", "auto", 0},      {"auto", "auto", 1e-15},    {"auto", "auto", 1e-20},
                        {"auto", "double", 0},    {"frontier", "auto", 0},    {"frontier", "double", 1e-15},
                        {"auto", "dd", 0},        {"frontier", "exact", 0},   {"ryser", "double", 0},
                        {"tree", "double", 0},    {"auto", "auto", 2.5e-16},  {"auto", "exact", 0},
                        {"ryser", "auto", 1e-20}, {"auto", "mpfr:200", 1e-50}};

} // namespace

TEST_CASE("every matrix of a batch as perm_plan_execute answers it, and near the exact permanent") {
    Random random(run::seed(310));
    for (int i = 0; i < run::cases(6); ++i)
        for (const Way &way : ways) {
            CAPTURE(way.engine);
            CAPTURE(way.precision);
            CAPTURE(way.tolerance);
            const perm::Csr a = random_matrix(random.integer(1, 7), random);
            const PlanOf plan =
                random.chance(0.5) ? plan_of(a, options_of(way)) : plan_of(a.view(), options_of(way));
            std::vector<std::vector<double>> matrices;
            for (std::int64_t k = random.integer(1, 20); k > 0; --k)
                matrices.push_back(row_values(a, static_cast<int>(random.integer(0, kinds - 1)), random));
            const std::size_t stride = a.col_idx.size() + at(random.integer(0, 3));
            const std::vector<double> values = side_by_side(matrices, stride);
            const auto count = static_cast<std::int64_t>(matrices.size());
            Results results(count);
            REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), static_cast<std::int64_t>(stride),
                                            count, results.all.data()) == PERM_OK);
            for (std::int64_t k = 0; k < count; ++k) {
                const perm::Csr matrix = with_values(a, matrices[at(k)]);
                CAPTURE(describe(matrix));
                perm::Result alone;
                REQUIRE(perm_plan_execute(plan.get(), matrices[at(k)].data(), alone.raw()) == PERM_OK);
                const bool as_fraction = alone.text().find('/') != std::string::npos;
                if (!as_fraction) check_result(*alone.raw(), oracle::by_ryser(matrix));
                if (as_fraction) CHECK(number_of(alone.text()).re == oracle::by_ryser(matrix));
                check_as_executed(*alone.raw(), results[k]);
            }
        }
}

TEST_CASE("complex numbers") {
    Random random(run::seed(311));
    for (int i = 0; i < run::cases(40); ++i) {
        const Way way = ways[random.integer(0, 4)];
        perm::Csr a = random_matrix(random.integer(1, 6), random);
        if (a.col_idx.empty()) continue;
        a.complex_values.resize(a.col_idx.size());
        const PlanOf plan = plan_of(a, options_of(way));
        std::vector<double> values;
        std::vector<oracle::GaussianMatrix> exact;
        const std::int64_t count = random.integer(1, 10);
        for (std::int64_t k = 0; k < count; ++k) {
            const auto re = row_values(a, static_cast<int>(random.integer(0, kinds - 1)), random),
                       im = row_values(a, static_cast<int>(random.integer(0, kinds - 1)), random);
            exact.emplace_back(at(a.n_rows), std::vector<oracle::Gaussian>(at(a.n_rows)));
            for (std::size_t row = 0, e = 0; row < at(a.n_rows); ++row)
                for (; e < at(a.row_ptr[row + 1]); ++e) {
                    values.push_back(re[e]);
                    values.push_back(im[e]);
                    exact.back()[row][at(a.col_idx[e])] = {Exact(re[e]), Exact(im[e])};
                }
        }
        Results results(count);
        const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
        REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), nnz, count, results.all.data()) ==
                PERM_OK);
        for (std::int64_t k = 0; k < count; ++k) {
            perm::Result alone;
            REQUIRE(perm_plan_execute(plan.get(), values.data() + 2 * nnz * k, alone.raw()) == PERM_OK);
            check_complex(*alone.raw(), oracle::by_subsets(exact[at(k)]));
            check_as_executed(*alone.raw(), results[k]);
        }
    }
}

TEST_CASE("a matrix has the same bits whatever stands beside it") {
    Random random(run::seed(314));
    const perm::Csr a = erdos_renyi(6, 0.8, Entries::real, run::seed(314));
    const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
    const PlanOf plan = plan_of(a);
    std::vector<std::vector<double>> matrices;
    for (int k = 0; k < 8; ++k) matrices.push_back(row_values(a, k % 2 == 0 ? 0 : 10, random));
    const std::vector<double> others = side_by_side(matrices, at(nnz));
    matrices[3] = row_values(a, 7, random); // not for the tape
    const std::vector<double> values = side_by_side(matrices, at(nnz));
    Results before(8), after(8);
    REQUIRE(perm_plan_execute_batch(plan.get(), others.data(), nnz, 8, before.all.data()) == PERM_OK);
    REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), nnz, 8, after.all.data()) == PERM_OK);
    for (std::int64_t k = 0; k < 8; ++k) {
        perm::Result alone;
        REQUIRE(perm_plan_execute(plan.get(), values.data() + k * nnz, alone.raw()) == PERM_OK);
        check_as_executed(*alone.raw(), after[k]);
        CHECK(same(before[k].re, after[k].re) == (k != 3));
    }
}

TEST_CASE("integers and texts: exact, and a text only where a double does not hold the answer") {
    const perm::Csr a = constant(4, 1);
    perm_csr view = a.view();
    view.value_type = PERM_VALUE_I64;
    view.values = nullptr;
    const std::int64_t large = 1000000007;
    std::vector<std::int64_t> integers(16, 3);
    integers.resize(32, large);
    Results results(2);
    const PlanOf counting = plan_of(view);
    REQUIRE(perm_plan_execute_batch(counting.get(), integers.data(), 16, 2, results.all.data()) == PERM_OK);
    CHECK(results[0].re == 24 * 81);
    CHECK(results[0].exact == 1);
    CHECK(results[0].text == nullptr);
    CHECK(results[1].exact == 1);
    const mpz_class fourth = mpz_class(large) * large * large * large * 24;
    REQUIRE(results[1].text != nullptr);
    CHECK(std::string(results[1].text) == fourth.get_str());

    view.value_type = PERM_VALUE_TEXT;
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    std::vector<const char *> texts(16, "1/3");
    texts.resize(32, "2");
    texts.resize(48, "x");
    const PlanOf written = plan_of(view, opts);
    REQUIRE(perm_plan_execute_batch(written.get(), texts.data(), 16, 2, results.all.data()) == PERM_OK);
    REQUIRE(results[0].text != nullptr);
    CHECK(std::string(results[0].text) == "8/27");
    CHECK(results[1].re == 384);
    Results three(3);
    CHECK(perm_plan_execute_batch(written.get(), texts.data(), 16, 3, three.all.data()) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("matrix 2 of the batch") != std::string::npos);
    CHECK(is_clear(three[0]));
}

TEST_CASE("rectangles, multiplicities and plans too large for a tape") {
    perm_csr empty = PERM_CSR_INIT; // of 1 x 2: no entry
    const std::int64_t row_ptr[] = {0, 0};
    empty.n_rows = 1;
    empty.n_cols = 2;
    empty.row_ptr = row_ptr;
    Results results(2);
    CHECK(perm_plan_execute_batch(plan_of(empty).get(), nullptr, 0, 2, results.all.data()) == PERM_OK);
    CHECK(results[1].exact == 1);
    CHECK(results[1].re == 0);

    const perm::Csr wide = build(2, 3, [](auto i, auto j) { return static_cast<double>(3 * i + j + 1); });
    REQUIRE(perm_plan_execute_batch(plan_of(wide).get(), std::vector<double>{1, 2, 3, 4, 5, 6}.data(), 6, 1,
                                    results.all.data()) == PERM_OK);
    CHECK(results[0].re == 58); // 1 (5 + 6) + 2 (4 + 6) + 3 (4 + 5)

    const perm::Csr large = banded(600, 3, 4, Entries::nonnegative, run::seed(315));
    const PlanOf plan = plan_of(large);
    REQUIRE(perm_plan_execute_batch(plan.get(), large.values.data(), 0, 2, results.all.data()) == PERM_OK);
    perm::Result alone;
    REQUIRE(perm_plan_execute(plan.get(), large.values.data(), alone.raw()) == PERM_OK);
    for (int k = 0; k < 2; ++k) check_as_executed(*alone.raw(), results[k]);
}

TEST_CASE("exact only what is: integers, fractions, and entries that scaling loses") {
    const auto execute = [](const perm::Csr &a) { return perm::Plan(a).execute(a.values.data()); };
    const auto of_two = [](double x, double y, double z, double w) { return from_dense({{x, y}, {z, w}}); };
    CHECK(execute(of_two(3, 5, 7, 11))->exact == 1);
    CHECK(execute(of_two(0.375, 5, 0.125, 11))->exact == 1);
    CHECK(execute(of_two(0.1, 5, 0.3, 11))->exact == 0);
    const double tiny = 0x1p-1074, p26 = 0x1p26, p27 = 0x1p27;
    for (const perm::Csr &a :
         {of_two(1, tiny, tiny, 1), of_two(0x1p1000, tiny, 1, 1), of_two(0x1p1000, tiny, 0x1p1000, 0x1p-60),
          of_two(tiny, tiny, 3, 5), of_two(0x1p1023, 0x1p-1022, 1, 1), of_two(p26 + 1, p27 + 1, p26 - 1, p27),
          of_two(p27 + 1, p26 + 1, p26 + 1, p26 + 1), of_two(p26 + 1, -p26 - 1, 1, 1), of_two(1, -0.0, 0, 1),
          of_two(-0.0, -0.0, 1, 1), of_two(0x1.fffffffffffffp1023, 1, 1, 0)}) {
        CAPTURE(describe(a));
        check_result(*execute(a).raw(), oracle::by_definition(a));
    }
    // One entry: every digit of its text.
    Random random(run::seed(316));
    const perm::Plan one(constant(1, 1));
    for (int e = -1074; e <= 1023; e += random.chance(0.5) ? 1 : 2)
        for (const double x : {std::ldexp(1.0, e), -std::ldexp(random.uniform(0.5, 1), e + 1),
                               std::ldexp(static_cast<double>(random.integer(1, 99)), std::min(e, 1016))})
            check_result(*one.execute(&x).raw(), Exact(x));
}
