// Derivatives of hafnians and probabilities of a graph's entries through the C API, against their
// definitions.
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_copies.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

using namespace perm::families;
using oracle::Gaussian;

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// By an entry of the copies and its mirror image: what a change of both by 1 makes.
Gaussian derivative(const GraphCopies &copies, std::size_t p, std::size_t q) {
    const auto with = [&](const Gaussian &x) {
        MatchingMatrix changed = copies.matrix;
        changed.entries[p][q] = changed.entries[q][p] = x;
        return oracle::over_pairs(changed, true);
    };
    return with({1, 0}) + Gaussian{-1, 0} * with(Gaussian{});
}

// By each value of the input: of all copies of its entry, and of its mirror image with it.
std::vector<Gaussian> derivatives_of(const DrawnLines &of, const MatchingInput &input) {
    const GraphCopies copies(of);
    std::vector<Gaussian> all;
    for (const auto &[row, col] : input.places()) {
        Gaussian sum;
        for (std::size_t p = 0; p < copies.line.size(); ++p)
            for (std::size_t q = p; q < copies.line.size(); ++q) {
                const auto i = static_cast<std::int64_t>(copies.line[p]),
                           j = static_cast<std::int64_t>(copies.line[q]);
                const bool is_weight = col < 0,
                           is_loop = of.has_loops() && p == q &&
                                     is_weight == of.matrix.row_weights.has_value() && i == row &&
                                     (is_weight || i == col),
                           is_edge = p != q && ((i == row && j == col) || (j == row && i == col));
                if (is_loop || is_edge) sum = sum + derivative(copies, p, q);
            }
        all.push_back(sum);
    }
    return all;
}

struct Found {
    std::vector<double> numbers, bounds;
    perm::Result result;
    perm_status status;
};

Found gradient_of(const MatchingInput &input, const perm_opts &opts) {
    const std::size_t parts = input.csr().value_type == PERM_VALUE_C128 ? 2 : 1,
                      count = at(input.value_count());
    Found found;
    found.numbers.assign(count * parts + 1, -1);
    found.bounds.assign(count + 1, -1);
    const perm::Plan plan(input.csr(), opts);
    found.status = perm_plan_gradient(plan.raw(), input.values(), found.numbers.data(), found.bounds.data(),
                                      found.result.raw());
    return found;
}

struct Compared {
    int numbers = 0, nonzero = 0, exact = 0;
};

void compare(const Found &found, const std::vector<Gaussian> &truth, std::size_t parts, Compared &compared) {
    for (std::size_t k = 0; k < truth.size(); ++k) {
        CAPTURE(k);
        if (std::isinf(found.bounds[k])) continue; // beyond doubles
        const mpq_class bound(found.bounds[k]),
            re = mpq_class(found.numbers[k * parts]) - truth[k].re,
            im = parts == 2 ? mpq_class(mpq_class(found.numbers[2 * k + 1]) - truth[k].im) : mpq_class(0);
        CHECK_MESSAGE(re * re + im * im <= bound * bound,
                      found.numbers[k * parts] << " +- " << bound.get_d() << " true " << truth[k].re.get_d());
        ++compared.numbers;
        compared.nonzero += !is_zero(truth[k]);
        compared.exact += bound == 0 && !is_zero(truth[k]);
    }
    CHECK(found.numbers.back() == -1);
    CHECK(found.bounds.back() == -1);
}

constexpr const char *engines[]{"auto", "frontier", "bjorklund"};

// What only an engine that was named cannot do.
bool is_of_named(const char *engine, perm_status status) {
    const std::string text = perm_last_error();
    return status == PERM_UNSUPPORTED &&
           ((std::string_view(engine) == "bjorklund" && text.find("graphs of two sides") != text.npos) ||
            (std::string_view(engine) == "frontier" && text.find("so far apart") != text.npos));
}

} // namespace

TEST_CASE("derivatives of hafnians lie within their bounds of what a change of both entries makes" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(3911));
    for (const char *engine : engines) {
        Compared compared;
        for (const DrawnKind &kind : kinds_of_numbers)
            for (int k = 0; k < run::cases(60); ++k) {
                const DrawnLines drawn = draw_lines(random, kind, 9);
                const MatchingInput input(drawn.matrix, kind.type, random);
                CAPTURE(engine);
                CAPTURE(kind.name);
                CAPTURE(k);
                CAPTURE(drawn.function);
                Found found = gradient_of(input, of_function(drawn.function, engine));
                if (is_of_named(engine, found.status)) continue;
                REQUIRE_MESSAGE(found.status == PERM_OK, std::string(perm_last_error()));
                compare(found, derivatives_of(drawn, input), kind.type == PERM_VALUE_C128 ? 2 : 1, compared);
                check_gaussian(*found.result.raw(), oracle::over_pairs(drawn.matrix, drawn.has_loops()));
            }
        CHECK(compared.numbers > run::enough(3000));
        CHECK(compared.nonzero > run::enough(1500));
        CHECK(compared.exact > run::enough(100));
    }
}

TEST_CASE("batches of derivatives have the bits of single calls") {
    Random random(run::seed(3912));
    int compared = 0;
    for (const DrawnKind &kind : {kinds_of_numbers[1], kinds_of_numbers[4]})
        for (int k = 0; k < run::cases(20); ++k) {
            const DrawnLines drawn = draw_lines(random, kind, 8);
            const MatchingInput input(drawn.matrix, kind.type, random);
            for (const char *engine : engines) {
                const perm_opts opts = of_function(drawn.function, engine);
                Found once = gradient_of(input, opts), batch = gradient_of(input, opts);
                std::fill(batch.numbers.begin(), batch.numbers.end() - 1, 7);
                const perm::Plan plan(input.csr(), opts);
                const perm_status status =
                    perm_plan_gradient_batch(plan.raw(), input.values(), input.value_count(), 1,
                                             batch.numbers.data(), batch.bounds.data(), batch.result.raw());
                if (is_of_named(engine, status)) continue;
                REQUIRE_MESSAGE(status == PERM_OK, std::string(perm_last_error()));
                CHECK(batch.numbers == once.numbers);
                CHECK(batch.bounds == once.bounds);
                CHECK(batch.result->re == once.result->re);
                ++compared;
            }
        }
    CHECK(compared > 0);
}

TEST_CASE("probabilities of a graph's entries and single lines are within their bounds" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(3913));
    for (const char *engine : engines) {
        int compared = 0, impossible = 0;
        for (const DrawnKind &kind : kinds_of_weights)
            for (int k = 0; k < run::cases(60); ++k) {
                const DrawnLines drawn = draw_lines(random, kind, 9);
                const MatchingInput input(drawn.matrix, kind.type, random);
                CAPTURE(engine);
                CAPTURE(kind.name);
                CAPTURE(k);
                CAPTURE(drawn.function);
                const auto lines = static_cast<std::size_t>(drawn.matrix.cols), entries = at(input.csr().nnz);
                std::vector<double> numbers(entries + 2 * lines + 1, -1), bounds = numbers;
                const perm_opts opts = of_function(drawn.function, engine);
                const perm_status status =
                    perm_marginals(&input.csr(), &opts, numbers.data(), bounds.data(), nullptr);
                const Gaussian whole = oracle::over_pairs(drawn.matrix, drawn.has_loops());
                if (is_zero(whole)) {
                    CHECK(status == PERM_BAD_MATRIX);
                    ++impossible;
                    continue;
                }
                if (is_of_named(engine, status)) continue;
                REQUIRE_MESSAGE(status == PERM_OK, std::string(perm_last_error()));
                const std::vector<Gaussian> derivatives = derivatives_of(drawn, input);
                for (std::size_t c = 0; c < numbers.size() - 1; ++c) {
                    CAPTURE(c);
                    mpq_class truth = 0;
                    if (c < derivatives.size()) {
                        const auto [row, col] = input.places()[c];
                        const Gaussian &value = col < 0 ? (*drawn.matrix.row_weights)[at(row)]
                                                        : drawn.matrix.entries[at(row)][at(col)];
                        truth = value.re * derivatives[c].re / whole.re;
                    }
                    if (std::isinf(bounds[c])) continue;
                    CHECK_MESSAGE(abs(mpq_class(numbers[c]) - truth) <= mpq_class(bounds[c]),
                                  numbers[c] << " +- " << bounds[c] << " true " << truth.get_d());
                    if (std::string_view(engine) != "bjorklund" && std::string_view(kind.name) != "far apart")
                        CHECK(bounds[c] <= 1e-12);
                    ++compared;
                }
                CHECK(numbers.back() == -1);
            }
        CHECK(compared > run::enough(2000));
        CHECK(impossible > 0);
    }
}

TEST_CASE("what stands in one half alone is a pair as any other") {
    const std::vector<std::int64_t> row_ptr{0, 1, 3, 4, 5}, col{1, 0, 3, 0, 2}; // (2, 0), (1, 3), (3, 2)
    const std::vector<double> values{1, 1, 0, 0, 0};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 4, a.nnz = 5;
    a.row_ptr = row_ptr.data(), a.col_idx = col.data(), a.values = values.data();
    const perm::Plan plan(a, of_function("hafnian"));
    std::vector<double> gradient(5), bounds(5, -1);
    REQUIRE(perm_plan_gradient(plan.raw(), values.data(), gradient.data(), bounds.data(), nullptr) ==
            PERM_OK);
    CHECK(gradient == std::vector<double>{0, 0, 0, 0, 1});
    CHECK(bounds == std::vector<double>(5, 0));
}

TEST_CASE("dense graphs go by minors, sparse ones along a tree, as tasks too") {
    Random random(run::seed(3914));
    const auto banded = [&random](std::int64_t n,
                                  std::int64_t reach) { // lines at most so far from each other
        MatchingMatrix a;
        a.cols = n;
        a.entries.assign(at(n), std::vector<Gaussian>(at(n)));
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < i; ++j)
                if (i - j <= reach)
                    a.entries[at(i)][at(j)] = a.entries[at(j)][at(i)] = real_number(1 - random.uniform());
        return a;
    };
    const struct {
        std::int64_t n, reach;
        const char *engine;
    } cases[]{{24, 23, "bjorklund"}, {60, 3, "frontier"}};
    for (const auto &[n, reach, engine] : cases) {
        const MatchingMatrix matrix = banded(n, reach);
        const auto entries = at(n * reach - reach * (reach + 1) / 2) * 2;
        MatchingInput input(matrix, PERM_VALUE_F64, random);
        while (input.places().size() > entries) // without zeros
            std::destroy_at(&input), std::construct_at(&input, matrix, PERM_VALUE_F64, random);
        Found found = gradient_of(input, of_function("hafnian"));
        REQUIRE_MESSAGE(found.status == PERM_OK, std::string(perm_last_error()));
        CHECK(std::string_view(found.result->engine) == engine);
        double sum = 0; // Euler's identity: n/2 times the hafnian, and from both halves
        for (std::size_t k = 0; k < entries; ++k) {
            const auto [row, col] = input.places()[k];
            sum += found.numbers[k] * matrix.entries[at(row)][at(col)].re.get_d();
            CHECK(found.bounds[k] <= 1e-9 * found.numbers[k]);
        }
        CHECK(sum == doctest::Approx(static_cast<double>(n) * found.result->re));
        perm_opts alone = of_function("hafnian");
        alone.threads = 1;
        CHECK(gradient_of(input, alone).numbers == found.numbers);
        const perm::Plan plan(input.csr(), of_function("hafnian"));
        const perm::Task task = perm::Task::gradient(plan, input.values()),
                         loaded = perm::Task::load(task.save());
        for (const perm::Task *one : {&task, &loaded}) {
            perm::Task::Numbers by_task = one->run_numbers();
            by_task.numbers.push_back(-1), by_task.error_bounds.push_back(-1);
            CHECK(by_task.numbers == found.numbers);
            CHECK(by_task.error_bounds == found.bounds);
            CHECK(by_task.result->re == found.result->re);
        }
    }
}

TEST_CASE("what hafnians have no derivatives of is refused with a text") {
    const std::vector<std::int64_t> row_ptr{0, 1}, col{0}, twice{2};
    const std::vector<double> value{1};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 1;
    a.row_ptr = row_ptr.data(), a.col_idx = col.data(), a.values = value.data();
    a.row_multiplicity = twice.data();
    const perm::Plan plan(a, of_function("loop_hafnian"));
    double gradient = 0;
    CHECK(perm_plan_gradient(plan.raw(), value.data(), &gradient, nullptr, nullptr) == PERM_UNSUPPORTED);
    CHECK(std::string(perm_last_error()).find("row_unmatched") != std::string::npos);
    CHECK(perm_plan_hessian_product(plan.raw(), value.data(), value.data(), &gradient, nullptr) ==
          PERM_UNSUPPORTED);
}
