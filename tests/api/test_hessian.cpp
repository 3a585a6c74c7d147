// The Hessian times a direction, against exact interpolation along the direction and each entry.
#include "tests/support/calls.hpp"
#include "tests/support/polynomials.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <perm.hpp>

#include <cmath>
#include <numeric>

using namespace perm::families;
using oracle::Gaussian;

namespace {

MatchingMatrix direction_of(const MatchingMatrix &a, const DrawnKind &kind, Random &random) {
    MatchingMatrix direction = a;
    const auto draw = [&](std::vector<Gaussian> &numbers) {
        for (Gaussian &x : numbers) x = random.chance(0.7) ? kind.draw(random) : Gaussian{};
    };
    for (auto &row : direction.entries) {
        const std::vector<Gaussian> entries = row;
        draw(row);
        for (std::size_t j = 0; j < row.size(); ++j)
            if (is_zero(entries[j])) row[j] = {}; // it may not be written
    }
    if (direction.row_weights) draw(*direction.row_weights);
    if (direction.col_weights) draw(*direction.col_weights);
    return direction;
}

std::int64_t lines_of(std::int64_t count, const std::vector<std::int64_t> &times) {
    return times.empty() ? count : std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

// d/dt d/ds at 0 of the sum over matchings of A + t V + s E, E being 1 at the place.
Gaussian second_derivative(const MatchingMatrix &a, const MatchingMatrix &direction,
                           const MatchingInput::Place &place) {
    MatchingMatrix unit = direction;
    for (auto &row : unit.entries) row.assign(row.size(), Gaussian{});
    if (unit.row_weights) unit.row_weights->assign(unit.row_weights->size(), Gaussian{});
    if (unit.col_weights) unit.col_weights->assign(unit.col_weights->size(), Gaussian{});
    const auto row = static_cast<std::size_t>(place.row), col = static_cast<std::size_t>(place.col);
    (place.row < 0   ? (*unit.col_weights)[col]
     : place.col < 0 ? (*unit.row_weights)[row]
                     : unit.entries[row][col]) = real_number(1);
    const std::int64_t degree = lines_of(a.rows(), a.row_times) + lines_of(a.cols, a.col_times) + 1;
    return oracle::interpolated(degree, [&](long t) {
        const MatchingMatrix along = oracle::moved(a, direction, t);
        return oracle::interpolated(
            degree, [&](long s) { return oracle::over_matchings(oracle::moved(along, unit, s)); })[1];
    })[1];
}

} // namespace

TEST_CASE(
    "as by interpolation, within the bounds: every kind of number, rectangles, weights, multiplicities") {
    perm_set_log_level(1); // what has no matching is warned of
    Random random(run::seed(3711));
    int compared = 0, close = 0;
    for (const DrawnKind &kind : kinds_of_numbers)
        for (int i = 0; i < run::cases(6); ++i) {
            const MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingMatrix direction = direction_of(a, kind, random);
            const MatchingInput input(a, kind.type, random);
            const TypedNumbers beside(numbers_beside(input, direction, true), input.csr().value_type);
            CAPTURE(kind.name);
            CAPTURE(i);
            const bool is_complex = kind.type == PERM_VALUE_C128;
            const auto count = input.places().size();
            std::vector<double> product(count * (is_complex ? 2 : 1) + 1), bounds(count + 1); // none null
            const perm::Plan plan(input.csr());
            plan.hessian_product(input.values(), beside.data(), product.data(), bounds.data());
            for (std::size_t k = 0; k < count; ++k, ++compared) {
                CAPTURE(k);
                const Gaussian truth = second_derivative(a, direction, input.places()[k]);
                const mpq_class re = truth.re - mpq_class(product[is_complex ? 2 * k : k]),
                                im = is_complex ? mpq_class(truth.im - mpq_class(product[2 * k + 1]))
                                                : mpq_class(0);
                REQUIRE(std::isfinite(bounds[k]));
                const mpq_class bound(bounds[k]);
                CHECK(re * re + im * im <= bound * bound);
                const double size = std::abs(truth.re.get_d()) + std::abs(truth.im.get_d());
                close += bounds[k] <= 1e-9 * std::max(size, 1e-3);
            }
        }
    CHECK(compared > run::enough(150));
    CHECK(close > compared / 2);
}

TEST_CASE("of a full matrix of twelve lines, symmetric: V H W is W H V") {
    Random random(run::seed(3712));
    const auto draw = [&](std::int64_t, std::int64_t) { return random.uniform(0.5, 1.5); };
    const perm::Csr a = build(12, 12, draw), v = build(12, 12, draw), w = build(12, 12, draw);
    const perm::Plan plan(a);
    std::vector<double> hv(144), hw(144), v_bounds(144), w_bounds(144);
    plan.hessian_product(a.values.data(), v.values.data(), hv.data(), v_bounds.data());
    plan.hessian_product(a.values.data(), w.values.data(), hw.data(), w_bounds.data());
    double x = 0, y = 0, most = 0;
    for (std::size_t k = 0; k < 144; ++k) {
        x += w.values[k] * hv[k];
        y += v.values[k] * hw[k];
        most += w.values[k] * v_bounds[k] + v.values[k] * w_bounds[k];
    }
    CHECK(std::abs(x - y) <= most + 1e-13 * x);
    CHECK(most < 1e-9 * x);
}

TEST_CASE("what is refused says what to do") {
    const perm::Csr a = build(4, 4, [](std::int64_t, std::int64_t) { return 1.0; });
    const perm::Plan plan(a);
    std::vector<double> direction(16, 1), product(16);
    const auto call = [&](const void *values, const void *along, void *to) {
        return perm_plan_hessian_product(plan.raw(), values, along, to, nullptr);
    };
    CHECK(call(a.values.data(), direction.data(), product.data()) == PERM_OK);
    CHECK(call(nullptr, direction.data(), product.data()) == PERM_BAD_ARGUMENT);
    CHECK(call(a.values.data(), nullptr, product.data()) == PERM_BAD_ARGUMENT);
    CHECK(call(a.values.data(), direction.data(), nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_plan_hessian_product(nullptr, a.values.data(), direction.data(), product.data(), nullptr) ==
          PERM_BAD_ARGUMENT);
    direction[5] = INFINITY;
    CHECK(call(a.values.data(), direction.data(), product.data()) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("direction") != std::string::npos);
    direction[5] = 1e-290;
    CHECK(call(a.values.data(), direction.data(), product.data()) == PERM_UNSUPPORTED);
}

TEST_CASE("along nothing nothing changes") {
    const perm::Csr a =
        build(4, 4, [](std::int64_t i, std::int64_t j) { return 0.1 * static_cast<double>(i + j); });
    std::vector<double> direction(a.values.size()), product(a.values.size(), 1), bounds(a.values.size(), 1);
    perm::Plan(a).hessian_product(a.values.data(), direction.data(), product.data(), bounds.data());
    CHECK(product == direction);
    CHECK(bounds == direction);
}

TEST_CASE("far from 1: rows are scaled") {
    for (const double size : {0x1p300, 0x1p-300, 0x1p-150}) {
        CAPTURE(size);
        const perm::Csr a = build(5, 5, [&](std::int64_t, std::int64_t) { return size; });
        const perm::Plan plan(a);
        std::vector<double> direction(25, 1), product(25), bounds(25);
        plan.hessian_product(a.values.data(), direction.data(), product.data(), bounds.data());
        const double truth = 96 * size * size * size; // sixteen minors of order 3
        for (std::size_t k = 0; k < 25; ++k) {
            CHECK(std::abs(product[k] - truth) <= bounds[k] + 0x1p-1070);
            CHECK(bounds[k] <= 1e-9 * truth + 0x1p-1070);
        }
    }
}

TEST_CASE("numbers in text: real ones, and none that doubles do not tell") {
    const char *values[] = {"1e-400", "1e200", "1e200"}, *real[] = {"1/3", "2", "3", "4"},
               *complex[] = {"1 1", "0", "0", "1"}, *units[] = {"1", "0", "0", "1"};
    const std::int64_t diagonal_ptr[] = {0, 1, 2, 3}, diagonal_col[] = {0, 1, 2}, ptr[] = {0, 2, 4},
                       col[] = {0, 1, 0, 1};
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 3, a.row_ptr = diagonal_ptr, a.col_idx = diagonal_col, a.values = values;
    a.value_type = PERM_VALUE_TEXT;
    double product[4];
    const char *along[] = {"0", "1e200", "0"};
    CHECK(perm_plan_hessian_product(perm::Plan(a).raw(), values, along, product, nullptr) ==
          PERM_UNSUPPORTED);
    a.n_rows = a.n_cols = 2, a.nnz = 4, a.row_ptr = ptr, a.col_idx = col, a.values = real;
    const perm::Plan plan(a);
    CHECK(perm_plan_hessian_product(plan.raw(), real, complex, product, nullptr) == PERM_UNSUPPORTED);
    CHECK(perm_plan_hessian_product(plan.raw(), complex, units, product, nullptr) == PERM_UNSUPPORTED);
    REQUIRE(perm_plan_hessian_product(plan.raw(), real, units, product, nullptr) == PERM_OK);
    const double truth[] = {1, 0, 0, 1};
    for (int k = 0; k < 4; ++k) CHECK(std::abs(product[k] - truth[k]) < 1e-12);
}
