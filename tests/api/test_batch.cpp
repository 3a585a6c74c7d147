// perm_plan_execute_batch and the tape that small plans run from: every matrix as perm_plan_execute answers
// it, both held against exact permanents.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

std::atomic<std::int64_t> allocations = 0;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

} // namespace

void *operator new(std::size_t size) {
    ++allocations;
    if (void *p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    ++allocations;
    return std::malloc(size);
}
// Inlined, GCC takes what is freed for what another operator new gave.
[[gnu::noinline]] void operator delete(void *p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace {

using PlanOf = std::unique_ptr<perm_plan, perm_status (*)(perm_plan *)>;

PlanOf plan_of(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm_plan *plan = nullptr;
    const perm_status status = perm_plan_create(&a, &opts, &plan);
    REQUIRE_MESSAGE(status == PERM_OK, perm_last_error());
    return {plan, perm_plan_destroy};
}

// Of the pattern alone.
PlanOf plan_of(const perm::Csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm_csr view = a.view();
    view.values = nullptr;
    return plan_of(view, opts);
}

struct Results {
    explicit Results(std::int64_t count) : all(at(count), perm_result PERM_RESULT_INIT) {}
    Results(const Results &) = delete;
    Results &operator=(const Results &) = delete;
    ~Results() {
        for (perm_result &r : all) perm_result_clear(&r);
    }
    perm_result &operator[](std::int64_t k) { return all[at(k)]; }

    std::vector<perm_result> all;
};

// That something was there before.
void soil(Results &results) {
    for (perm_result &r : results.all) {
        r.re = 7;
        r.exact = 1;
        r.text = static_cast<char *>(std::calloc(1, 2));
    }
}
bool is_clear(const perm_result &r) {
    perm_result clear = PERM_RESULT_INIT;
    clear.struct_size = r.struct_size;
    return std::memcmp(&r, &clear, sizeof r) == 0;
}

bool same(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

// Of the same values: by perm_plan_execute and from a batch.
void check_as_executed(const perm_result &alone, const perm_result &of_batch) {
    CHECK(same(alone.re, of_batch.re));
    CHECK(same(alone.im, of_batch.im));
    CHECK(same(alone.mantissa_re, of_batch.mantissa_re));
    CHECK(same(alone.mantissa_im, of_batch.mantissa_im));
    CHECK(alone.exp2 == of_batch.exp2);
    CHECK(same(alone.rel_error_bound, of_batch.rel_error_bound));
    CHECK(same(alone.abs_error_bound, of_batch.abs_error_bound));
    CHECK(alone.exact == of_batch.exact);
    CHECK(alone.tolerance_met == of_batch.tolerance_met);
    CHECK(std::string(alone.engine) == of_batch.engine);
    CHECK(std::string(alone.device) == of_batch.device);
    CHECK(alone.n == of_batch.n);
    CHECK(alone.nnz == of_batch.nnz);
    CHECK(alone.threads == of_batch.threads);
    CHECK(alone.transposed == of_batch.transposed);
    CHECK(alone.blocks == of_batch.blocks);
    CHECK(alone.blocks_computed == of_batch.blocks_computed);
    CHECK(same(alone.operations, of_batch.operations));
    CHECK(same(alone.states, of_batch.states));
    CHECK(of_batch.seconds_total == 0);
    CHECK(of_batch.seconds_run == 0);
    if (of_batch.text) CHECK(std::string(of_batch.text) == alone.text);
}

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

std::vector<double> row_values(const perm::Csr &a, int kind, Random &random) {
    std::vector<double> values;
    std::vector<double> column(at(a.n_rows));
    for (double &x : column) x = random.uniform(-1, 1);
    const std::int64_t special = random.integer(0, a.n_rows - 1);
    const auto sign = [&] { return random.chance(0.5) ? 1.0 : -1.0; };
    const auto exponent = [&](std::int64_t e) { return static_cast<int>(random.integer(-e, e)); };
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        const int scale = exponent(1000);
        for (std::int64_t k = a.row_ptr[at(i)]; k < a.row_ptr[at(i) + 1]; ++k)
            values.push_back([&]() -> double {
                switch (kind) {
                case 0:
                    return random.uniform(-1, 1);
                case 1:
                    return random_entry(Entries::integers, random);
                case 2: // dyadic fractions
                    return std::ldexp(static_cast<double>(random.integer(-1000, 1000)), exponent(20));
                case 3:
                    return std::ldexp(random.uniform(-1, 1), exponent(1000)); // 1e+-300
                case 4: // rows that differ in signs: much cancels
                    return column[at(a.col_idx[at(k)])] * sign();
                case 5:
                    return random.chance(0.3) ? sign() * 0.0 : random.uniform(-1, 1);
                case 6:
                    return i == special ? sign() * 0.0 : random.uniform(-1, 1);
                case 7: // a row among the subnormal numbers
                    return i == special ? std::ldexp(static_cast<double>(random.integer(-999, 999)), -1074)
                                        : random.uniform(-1, 1);
                case 8: // beside which doubles lose the others
                    return random.chance(0.2) ? std::ldexp(1.0, std::min(exponent(1070), 1000))
                                              : random.uniform(-1, 1);
                case 9: // integers about as large as leave the sum exact
                    return static_cast<double>(random.integer(-(1LL << 45 / a.n_rows), 1LL << 53 / a.n_rows));
                case 10:
                    return random.uniform();
                default:
                    return std::ldexp(static_cast<double>(random.integer(-3, 3)), scale);
                }
            }());
    }
    return values;
}
constexpr int kinds = 12;

// Their values, `stride` apart, NaN between them.
std::vector<double> side_by_side(const std::vector<std::vector<double>> &matrices, std::size_t stride) {
    std::vector<double> all;
    for (const auto &values : matrices) {
        all.insert(all.end(), values.begin(), values.end());
        all.resize(all.size() + stride - values.size(), std::nan(""));
    }
    return all;
}

struct Way {
    const char *engine, *precision;
    double tolerance;
};
perm_opts options_of(const Way &way) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = way.engine;
    opts.precision = way.precision;
    opts.tolerance = way.tolerance;
    opts.device = "cpu";
    return opts;
}
constexpr Way ways[] = {{"auto", "auto", 0},      {"auto", "auto", 1e-15},    {"auto", "auto", 1e-20},
                        {"auto", "double", 0},    {"frontier", "auto", 0},    {"frontier", "double", 1e-15},
                        {"auto", "dd", 0},        {"frontier", "exact", 0},   {"ryser", "double", 0},
                        {"tree", "double", 0},    {"auto", "auto", 2.5e-16},  {"auto", "exact", 0},
                        {"ryser", "auto", 1e-20}, {"auto", "mpfr:200", 1e-50}};

} // namespace

TEST_CASE("every matrix of a batch as perm_plan_execute answers it, and near the exact permanent") {
    Random random(run::seed(310));
    for (int i = 0; i < 6 * run::multiplier(); ++i)
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
    for (int i = 0; i < 40 * run::multiplier(); ++i) {
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

TEST_CASE("any count, any stride") {
    Random random(run::seed(312));
    const perm::Csr a = erdos_renyi(6, 0.7, Entries::real, run::seed(312));
    const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
    for (const char *engine : {"auto", "ryser"}) {
        const PlanOf plan = plan_of(a, options_of({engine, "auto", 0}));
        for (const std::int64_t count : {0, 1, 7, 8, 9, 1000})
            for (const std::int64_t stride : {std::int64_t{0}, nnz, nnz + 5}) {
                std::vector<std::vector<double>> matrices;
                for (std::int64_t k = 0; k < (stride == 0 ? 1 : count); ++k)
                    matrices.push_back(row_values(a, static_cast<int>(k % 2) * 10, random));
                const std::vector<double> values = side_by_side(matrices, at(std::max(stride, nnz)));
                Results results(count);
                REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), stride, count,
                                                results.all.data()) == PERM_OK);
                for (std::int64_t k = 0; k < count; k += count < 10 ? 1 : 37) {
                    perm::Result alone;
                    REQUIRE(perm_plan_execute(plan.get(), values.data() + k * stride, alone.raw()) ==
                            PERM_OK);
                    check_as_executed(*alone.raw(), results[k]);
                }
            }
        CHECK(perm_plan_execute_batch(plan.get(), nullptr, 0, 0, nullptr) == PERM_OK);
    }
}

TEST_CASE("what cannot be is refused, and all results are cleared") {
    const perm::Csr a = constant(3, 1);
    const PlanOf plan = plan_of(a);
    const double *values = a.values.data();
    const auto refused = [&](const perm_plan *p, const double *v, std::int64_t stride, std::int64_t count) {
        Results results(2);
        soil(results);
        CHECK(perm_plan_execute_batch(p, v, stride, count, results.all.data()) == PERM_BAD_ARGUMENT);
        if (count > 0) CHECK(is_clear(results[0]));
        if (count > 0) CHECK(is_clear(results[1]));
    };
    refused(nullptr, values, 0, 2);
    refused(plan.get(), nullptr, 9, 2);
    refused(plan.get(), values, 8, 2); // less than a matrix has
    refused(plan.get(), values, -9, 2);
    refused(plan.get(), values, 9, -1);
    CHECK(perm_plan_execute_batch(plan.get(), values, 9, 1, nullptr) == PERM_BAD_ARGUMENT);
    perm::Csr ones = a;
    ones.pattern = true;
    refused(plan_of(ones).get(), values, 0, 2);

    perm_opts opts = PERM_OPTS_INIT; // limits are a plan's, however it is executed
    opts.memory_limit_bytes = 1;
    opts.without = "all";
    opts.device = "cpu"; // whose memory it is
    const PlanOf small = plan_of(a, opts);
    perm::Result alone;
    CHECK(perm_plan_execute(small.get(), values, alone.raw()) == PERM_REFUSED_MEMORY);
    Results results(1);
    CHECK(perm_plan_execute_batch(small.get(), values, 0, 1, results.all.data()) == PERM_REFUSED_MEMORY);
}

TEST_CASE("a number that is none names its matrix") {
    Random random(run::seed(313));
    const perm::Csr a = erdos_renyi(5, 0.8, Entries::real, run::seed(313));
    for (const char *engine : {"auto", "ryser"})
        for (const double none : {std::nan(""), double{INFINITY}, -double{INFINITY}})
            for (const std::int64_t count : {1, 8, 21}) {
                const PlanOf plan = plan_of(a, options_of({engine, "auto", 0}));
                const std::size_t nnz = a.col_idx.size();
                std::vector<double> values(nnz * at(count), 0.5);
                const std::int64_t bad = random.integer(0, count - 1);
                values[nnz * at(bad) + at(random.integer(0, static_cast<std::int64_t>(nnz) - 1))] = none;
                Results results(count);
                soil(results);
                CHECK(perm_plan_execute_batch(plan.get(), values.data(), static_cast<std::int64_t>(nnz),
                                              count, results.all.data()) == PERM_BAD_MATRIX);
                CHECK(
                    std::string(perm_last_error()).find("matrix " + std::to_string(bad) + " of the batch") !=
                    std::string::npos);
                for (const perm_result &r : results.all) CHECK(is_clear(r));
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

TEST_CASE("results of older and of newer versions lie as far apart as these are large") {
    const perm::Csr a = counting(3);
    const PlanOf plan = plan_of(a);
    for (const std::size_t size : {offsetof(perm_result, blocks), offsetof(perm_result, seconds_compile),
                                   sizeof(perm_result), sizeof(perm_result) + 16}) {
        CAPTURE(size);
        constexpr std::size_t count = 10;
        std::vector<double> memory(count * size / sizeof(double) + 1, -7);
        const auto result = [&](std::size_t k) {
            return reinterpret_cast<perm_result *>(reinterpret_cast<char *>(memory.data()) + k * size);
        };
        perm_result fresh = PERM_RESULT_INIT;
        fresh.struct_size = size;
        for (std::size_t k = 0; k < count; ++k) std::memcpy(result(k), &fresh, std::min(size, sizeof fresh));
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_OK);
        for (std::size_t k = 0; k < count; ++k) {
            CHECK(result(k)->struct_size == size);
            CHECK(result(k)->re == 450);
            CHECK(result(k)->text == nullptr);
        }
        CHECK(memory.back() == -7);
        result(7)->struct_size = size - 8;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_BAD_ARGUMENT);
        result(0)->struct_size = 8;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, result(0)) == PERM_BAD_ARGUMENT);
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

TEST_CASE("one plan, executed alone and in batches by many threads at once") {
    Random random(run::seed(317));
    const perm::Csr a = erdos_renyi(7, 0.7, Entries::real, run::seed(317));
    const auto nnz = static_cast<std::int64_t>(a.col_idx.size());
    constexpr std::int64_t count = 41;
    std::vector<std::vector<double>> matrices;
    for (int k = 0; k < count; ++k) matrices.push_back(row_values(a, k % kinds, random));
    const std::vector<double> values = side_by_side(matrices, at(nnz));
    for (const double tolerance : {0.0, 1e-15}) {
        perm_opts opts = options_of({"auto", "auto", tolerance});
        opts.threads = 2;
        const PlanOf plan = plan_of(a, opts);
        Results first(count);
        REQUIRE(perm_plan_execute_batch(plan.get(), values.data(), nnz, count, first.all.data()) == PERM_OK);
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (int again = 0; again < 5; ++again) {
                    Results mine(count);
                    if (t % 2 == 0)
                        wrong += perm_plan_execute_batch(plan.get(), values.data(), nnz, count,
                                                         mine.all.data()) != PERM_OK;
                    else
                        for (std::int64_t k = 0; k < count; ++k)
                            wrong +=
                                perm_plan_execute(plan.get(), values.data() + k * nnz, &mine[k]) != PERM_OK;
                    for (std::int64_t k = 0; k < count; ++k)
                        wrong += !same(mine[k].re, first[k].re) ||
                                 !same(mine[k].rel_error_bound, first[k].rel_error_bound);
                }
            });
        for (std::thread &t : threads) t.join();
        CHECK(wrong == 0);
    }
}

TEST_CASE("a batch is cancelled, stops at its time limit, and tells its progress") {
    struct Watch {
        std::atomic<bool> stop = false;
        double last = -1;
        bool falls = false;
    } watch;
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel = [](void *user) { return static_cast<Watch *>(user)->stop ? 1 : 0; };
    opts.progress = [](double fraction, double, void *user) {
        auto &self = *static_cast<Watch *>(user);
        self.falls = self.falls || fraction < self.last || fraction > 1;
        self.last = fraction;
    };
    opts.cancel_user = opts.progress_user = &watch;
    const perm::Csr a = erdos_renyi(10, 0.9, Entries::real, run::seed(318));
    for (const char *engine : {"auto", "ryser"}) {
        CAPTURE(engine);
        opts.engine = engine;
        opts.time_limit_seconds = 0;
        watch.stop = false;
        const PlanOf plan = plan_of(a, opts);
        constexpr std::int64_t count = 1000;
        Results results(count);
        watch.last = -1; // of another call
        watch.falls = false;
        REQUIRE(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, results.all.data()) ==
                PERM_OK);
        CHECK(watch.last >= 0);
        CHECK_FALSE(watch.falls);
        watch.stop = true;
        CHECK(perm_plan_execute_batch(plan.get(), a.values.data(), 0, count, results.all.data()) ==
              PERM_CANCELLED);
        for (const perm_result &r : results.all) CHECK(is_clear(r));
    }
    watch.stop = false;
    opts.engine = "ryser";
    opts.threads = 1;
    opts.time_limit_seconds = 0.05;
    const perm::Csr b = erdos_renyi(14, 1, Entries::real, run::seed(319));
    const PlanOf plan = plan_of(b, opts);
    Results results(4000);
    CHECK(perm_plan_execute_batch(plan.get(), b.values.data(), 0, 4000, results.all.data()) ==
          PERM_REFUSED_TIME);
    CHECK(is_clear(results[0]));
}

TEST_CASE("a small plan executed again allocates nothing but its text") {
    const perm::Csr a = erdos_renyi(8, 0.8, Entries::real, run::seed(320));
    const std::int64_t at_first = allocations;
    const PlanOf plan = plan_of(a);
    REQUIRE(allocations > at_first); // they are counted
    perm_result r = PERM_RESULT_INIT;
    REQUIRE(perm_plan_execute(plan.get(), a.values.data(), &r) == PERM_OK);
    CHECK(std::string(r.engine) == "frontier");
    const std::int64_t before = allocations;
    constexpr int times = 100;
    bool all = true;
    for (int k = 0; k < times; ++k)
        all = perm_plan_execute(plan.get(), a.values.data(), &r) == PERM_OK && all;
    CHECK(allocations - before <= times); // the text, before it is copied for the caller
    CHECK(all);
    perm_result_clear(&r);
}
