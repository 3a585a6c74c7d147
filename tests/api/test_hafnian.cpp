// Hafnians and loop hafnians through the C API, against their definition and against permanents.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace perm::families;
using oracle::Gaussian;

namespace {

DrawnGraph draw_graph(Random &random, const DrawnKind &kind, std::int64_t most_lines) {
    DrawnGraph drawn{random_graph(random, most_lines, kind.draw), "hafnian", {}};
    MatchingMatrix &a = drawn.matrix;
    const bool has_loops = random.chance(0.4);
    if (has_loops) drawn.function = "loop_hafnian";
    if (random.chance(0.2)) {
        a.row_weights.emplace();
        for (std::int64_t i = 0; i < a.cols; ++i)
            a.row_weights->push_back(random.chance(0.2) ? Gaussian{} : kind.draw(random));
    }
    if (random.chance(0.2) && a.cols <= 6)
        for (std::int64_t i = 0; i < a.cols; ++i) a.row_times.push_back(random.integer(0, 2));
    canonicalize(a);
    drawn.truth = oracle::over_pairs(a, has_loops);
    return drawn;
}

// A graph of the plane's triangles, or of a king's moves, all ones: n x n lines.
perm::Csr board(std::int64_t n, bool both_diagonals) {
    std::vector<std::int64_t> row_ptr{0}, col;
    for (std::int64_t i = 0; i < n * n; ++i) {
        const std::int64_t x = i % n, y = i / n;
        for (std::int64_t dy = -1; dy <= 1; ++dy)
            for (std::int64_t dx = -1; dx <= 1; ++dx) {
                const bool is_move = (dx == 0) != (dy == 0) || (dx != 0 && (both_diagonals || dx == dy));
                if (is_move && x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n)
                    col.push_back(i + dy * n + dx);
            }
        row_ptr.push_back(std::ssize(col));
    }
    std::vector<double> ones(col.size(), 1);
    return {n * n, n * n, std::move(row_ptr), std::move(col), std::move(ones), false, {}};
}

} // namespace

TEST_CASE("hafnians are sums over the pairings") {
    Random random(run::seed(3901));
    int nonzero = 0, of_engines = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(150); ++k) {
            const DrawnGraph drawn = draw_graph(random, kind, 10);
            const MatchingInput input(drawn.matrix, kind.type, random);
            nonzero += !is_zero(drawn.truth);
            CAPTURE(kind.name);
            CAPTURE(k);
            CAPTURE(drawn.function);
            for (const char *precision : {"auto", "exact", "dd", "mpfr:100"}) {
                CAPTURE(precision);
                const perm_opts opts = of_function(drawn.function, "auto", precision);
                perm::Result result = perm::compute(input.csr(), opts);
                check_gaussian(*result.raw(), drawn.truth);
                of_engines += std::string_view(result->engine) != "none";
            }
        }
    CHECK(nonzero > run::enough(100));
    CHECK(of_engines > run::enough(50));
}

TEST_CASE("without reductions, and by the function of its own, hafnians are the same") {
    Random random(run::seed(3902));
    int compared = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(60); ++k) {
            const DrawnGraph drawn = draw_graph(random, kind, 9);
            const MatchingInput input(drawn.matrix, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(k);
            perm_opts opts = of_function(drawn.function);
            opts.without = "all";
            check_gaussian(*perm::compute(input.csr(), opts).raw(), drawn.truth);
            ++compared;
        }
    CHECK(compared > 0);
}

TEST_CASE("plans of hafnians are executed, saved, shared out and put together") {
    Random random(run::seed(3903));
    int sharded = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int k = 0; k < run::cases(30); ++k) {
            const DrawnGraph drawn = draw_graph(random, kind, 10);
            const MatchingInput input(drawn.matrix, kind.type, random);
            CAPTURE(kind.name);
            CAPTURE(k);
            const perm_opts opts = of_function(drawn.function);
            const perm::Plan plan(input.csr(), opts);
            perm::Result once = plan.execute(input.values());
            check_gaussian(*once.raw(), drawn.truth);
            const perm::Plan loaded = perm::Plan::load(plan.save());
            check_same_answer(*once.raw(), *loaded.execute(input.values()).raw());
            loaded.check_matrix(input.csr());
            perm::Result of_batch;
            REQUIRE(perm_plan_execute_batch(plan.raw(), input.values(), 0, 1, of_batch.raw()) == PERM_OK);
            CHECK(of_batch->re == once->re); // whose texts tell only what a double does not
            CHECK(of_batch->im == once->im);
            CHECK(of_batch->abs_error_bound == once->abs_error_bound);
            check_same_answer(*once.raw(), *in_shards(plan, input.values()).raw());
            ++sharded;
        }
    CHECK(sharded > 0);
}

TEST_CASE("a permanent is the hafnian of the matrix and its transpose beside each other") {
    Random random(run::seed(3904));
    for (int k = 0; k < run::cases(60); ++k) {
        const auto n = static_cast<std::size_t>(random.integer(1, 7));
        oracle::GaussianMatrix a(n, std::vector<Gaussian>(n)), both(2 * n, std::vector<Gaussian>(2 * n));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                if (random.chance(0.7))
                    a[i][j] = both[i][n + j] =
                        both[n + j][i] = {mpq_class(random.uniform(-1, 1)), mpq_class(random.uniform(-1, 1))};
        const Given of_both = given(both, As::complex);
        check_gaussian(*perm::compute(of_both.csr, of_function("hafnian")).raw(), oracle::by_subsets(a));
    }
}

// OEIS A239273 (kings), and of triangles what the recurrence of its rows gives; numbers of K_n are odd
// factorials.
TEST_CASE("boards and complete graphs have the numbers that are known") {
    const std::array<const char *, 4> kings{"3", "280", "3037561", "3263262629905"};
    for (std::size_t k = 0; k < kings.size(); ++k) {
        const perm::Csr a = board(2 * static_cast<std::int64_t>(k) + 2, true);
        CHECK(std::string(perm::compute(a.view(), of_function("hafnian")).text()) == kings[k]);
    }
    mpz_class odd = 1;
    for (std::int64_t n = 2; n <= 16; n += 2) {
        odd *= static_cast<unsigned long>(n - 1);
        oracle::GaussianMatrix ones(static_cast<std::size_t>(n),
                                    std::vector<Gaussian>(static_cast<std::size_t>(n), real_number(1)));
        const Given complete = given(ones, As::text);
        CHECK(std::string(perm::compute(complete.csr, of_function("hafnian")).text()) == odd.get_str());
    }
}

TEST_CASE("what is no hafnian is refused with a text that says what to do") {
    const auto refused = [](const oracle::GaussianMatrix &a, const perm_opts &opts, perm_status status,
                            const char *says) {
        const Given matrix = given(a, As::complex);
        perm::Result result;
        CHECK(perm_compute(&matrix.csr, &opts, result.raw()) == status);
        CHECK(cleared(*result.raw()));
        CHECK(std::string(perm_last_error()).find(says) != std::string::npos);
    };
    const auto x = [](double value) { return real_number(value); };
    const perm_opts hafnian = of_function("hafnian");
    refused({{x(0), x(1)}, {x(2), x(0)}}, hafnian, PERM_BAD_MATRIX, "(A + A^T)/2");
    refused({{x(0), x(1)}, {x(0), x(0)}}, hafnian, PERM_BAD_MATRIX, "A + A^T");
    refused({{x(0), x(1), x(1)}, {x(1), x(0), x(1)}}, hafnian, PERM_BAD_MATRIX, "2 rows and 3 columns");
    refused({{x(0), x(1)}, {x(1), x(0)}}, of_function("haffnian"), PERM_BAD_OPTION, "loop_hafnian");
    const double near = 1 + 0x1p-52;
    const Given rounded = given({{x(0), x(1)}, {x(near), x(0)}}, As::complex);
    CHECK(perm::compute(rounded.csr, hafnian)->re == 1);

    const Given two = given({{x(1), x(1)}, {x(1), x(1)}}, As::complex);
    perm_csr other = two.csr;
    const std::vector<std::int64_t> once{1, 1}, twice{2, 2};
    other.col_multiplicity = twice.data();
    CHECK(status_of(other, hafnian) == PERM_BAD_ARGUMENT);
    other.row_multiplicity = once.data();
    CHECK(status_of(other, hafnian) == PERM_BAD_ARGUMENT);
    other.row_multiplicity = twice.data();
    CHECK(perm::compute(other, hafnian)->re == 3); // of four lines, all ones
    other = two.csr;
    const double weights[4]{1, 0, 1, 0};
    other.col_unmatched = weights;
    CHECK(status_of(other, hafnian) == PERM_BAD_ARGUMENT);

    const perm_opts on_gpu = [&] {
        perm_opts opts = of_function("hafnian", "frontier");
        opts.device = "gpu";
        return opts;
    }();
    perm_plan *unsupported = nullptr;
    const Given five = given(oracle::GaussianMatrix(6, std::vector<Gaussian>(6, x(1))), As::complex);
    REQUIRE(perm_plan_create(&five.csr, &on_gpu, &unsupported) == PERM_OK);
    std::size_t size = 0;
    CHECK(perm_plan_explain(unsupported, PERM_FORMAT_JSON, nullptr, 0, &size) == PERM_OK);
    CHECK(perm_plan_save(unsupported, nullptr, 0, &size) == PERM_OK);
    perm_plan_destroy(unsupported);

    const perm::Plan plan(two.csr, hafnian);
    std::vector<double> gradient(8), bounds(4);
    CHECK(perm_plan_hessian_product(plan.raw(), two.csr.values, two.csr.values, gradient.data(),
                                    bounds.data()) == PERM_UNSUPPORTED);
}

// [[1, 4], [4, 1]], whose values in their order are a symmetric matrix, too.
TEST_CASE("columns in any order, of a plan and of a batch") {
    perm::Csr a;
    a.n_rows = a.n_cols = 2;
    a.row_ptr = {0, 2, 4};
    a.col_idx = {1, 0, 1, 0};
    a.values = {4, 1, 1, 4};
    for (const auto &[function, value] : {std::pair{"hafnian", 4.0}, {"loop_hafnian", 5.0}}) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.function = function;
        const perm::Plan plan(a, opts);
        CHECK(plan.execute(a.values.data())->re == value);
        perm::Result one;
        REQUIRE(perm_plan_execute_batch(plan.raw(), a.values.data(), 4, 1, one.raw()) == PERM_OK);
        CHECK(one->re == value);
        CHECK(perm::compute(a.view(), opts)->re == value);
    }
}

TEST_CASE(
    "a plan that is refused for an engine of another goal is saved, and told of as such when it is loaded") {
    perm::Csr two_sides =
        build(6, 6, [](std::int64_t i, std::int64_t j) { return (i < 3) != (j < 3) ? 1.0 : 0.0; });
    perm_opts opts = PERM_OPTS_INIT;
    opts.function = "hafnian";
    opts.engine = "bjorklund";
    const perm::Plan plan(two_sides, opts), again = perm::Plan::load(plan.save());
    CHECK(again.explain().find("refused") != std::string::npos);
    perm::Result r;
    CHECK(perm_plan_execute(again.raw(), two_sides.values.data(), r.raw()) == PERM_UNSUPPORTED);
}

TEST_CASE("orders of 0 and odd ones, and lines without an entry") {
    const auto value = [](const oracle::GaussianMatrix &a, const char *function) {
        const Given matrix = given(a, As::text);
        return std::string(perm::compute(matrix.csr, of_function(function)).text());
    };
    const auto x = [](double of) { return real_number(of); };
    CHECK(value({}, "hafnian") == "1");
    CHECK(value({}, "loop_hafnian") == "1");
    CHECK(value({{x(5)}}, "hafnian") == "0");
    CHECK(value({{x(5)}}, "loop_hafnian") == "5");
    CHECK(value({{x(0), x(0)}, {x(0), x(0)}}, "loop_hafnian") == "0");
    CHECK(value({{x(2), x(7)}, {x(7), x(3)}}, "hafnian") == "7");
    CHECK(value({{x(2), x(7)}, {x(7), x(3)}}, "loop_hafnian") == "13");
    CHECK(value({{x(1), x(1), x(1)}, {x(1), x(1), x(1)}, {x(1), x(1), x(1)}}, "loop_hafnian") == "4");
    CHECK(value({{x(1), x(1), x(1)}, {x(1), x(1), x(1)}, {x(1), x(1), x(1)}}, "hafnian") == "0");
}

TEST_CASE("a residue that there is not is told of the hafnian") {
    const std::int64_t row_ptr[] = {0, 1, 2}, col[] = {1, 0};
    const char *const values[] = {"1/7", "1/7"};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 2;
    a.row_ptr = row_ptr;
    a.col_idx = col;
    a.values = values;
    a.value_type = PERM_VALUE_TEXT;
    perm_opts opts = PERM_OPTS_INIT;
    for (const auto &[function, name] :
         {std::pair("hafnian", "the hafnian"), std::pair("loop_hafnian", "the loop hafnian"),
          std::pair("permanent", "the permanent")}) {
        CAPTURE(function);
        opts.function = function;
        opts.precision = "mod:7";
        perm::Result r;
        CHECK(perm_compute(&a, &opts, r.raw()) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).find(std::string(name) + " has a denominator") !=
              std::string::npos);
        opts.precision = "mod:5";
        CHECK(perm::compute(a, opts).text() ==
              (function == std::string("permanent") ? "4" : "3")); // 1/49, 1/7
    }
}
