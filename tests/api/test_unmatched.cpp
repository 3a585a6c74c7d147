// Lines that may stay unmatched, against the sum over all matchings by its definition.
#include "tests/support/check.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/matchings.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace perm::families;
using oracle::Gaussian;

namespace {

const DrawnKind kinds[]{
    {"positive", PERM_VALUE_F64, [](Random &r) { return real_number(1 - r.uniform()); }},
    {"signed", PERM_VALUE_F64, [](Random &r) { return real_number(r.uniform(-1, 1)); }},
    {"far apart", PERM_VALUE_F64,
     [](Random &r) {
         return real_number(r.uniform() * std::exp2(static_cast<double>(r.integer(-300, 300))));
     }},
    {"integers", PERM_VALUE_I64,
     [](Random &r) { return real_number(static_cast<double>(r.integer(-9, 9))); }},
    {"complex", PERM_VALUE_C128,
     [](Random &r) {
         return Gaussian{mpq_class(r.uniform(-1, 1)), mpq_class(r.uniform(-1, 1))};
     }},
    {"texts", PERM_VALUE_TEXT,
     [](Random &r) {
         return Gaussian{
             mpq_class(static_cast<long>(r.integer(-9, 9)), static_cast<unsigned long>(r.integer(1, 9))), 0};
     }},
    {"ones", PERM_VALUE_PATTERN, [](Random &) { return real_number(1); }},
};

Gaussian difference(const Gaussian &x, const Gaussian &y) { return {x.re - y.re, x.im - y.im}; }

// A pattern has no zeros and no weights but 1.
void make_pattern(MatchingMatrix &a) {
    for (auto *weights : {&a.row_weights, &a.col_weights})
        if (*weights)
            for (Gaussian &x : **weights) x = real_number(1);
}

MatchingInput input_of(MatchingMatrix &a, const DrawnKind &kind, Random &random) {
    for (auto &row : a.entries)
        for (Gaussian &x : row) x.re.canonicalize();
    for (auto *weights : {&a.row_weights, &a.col_weights})
        if (*weights)
            for (Gaussian &x : **weights) x.re.canonicalize();
    if (kind.type == PERM_VALUE_PATTERN) make_pattern(a);
    return {a, kind.type, random};
}

} // namespace

TEST_CASE("every engine sums over the matchings") {
    Random random(run::seed(2401));
    int nonzero = 0;
    for (const DrawnKind &kind : kinds)
        for (int i = 0; i < run::cases(120); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingInput input = input_of(a, kind, random);
            if (kind.type == PERM_VALUE_PATTERN && input.csr().nnz > 0) {
                std::int64_t ones = 0;
                for (const auto &row : a.entries)
                    for (const Gaussian &x : row) ones += !is_zero(x);
                if (ones != input.csr().nnz) continue; // a pattern cannot have zeros
            }
            const Gaussian truth = oracle::over_matchings(a);
            nonzero += !is_zero(truth);
            CAPTURE(kind.name);
            CAPTURE(i);
            for (const char *engine : {"auto", "ryser", "frontier", "tree"})
                for (const char *precision : {"auto", "exact"}) {
                    CAPTURE(engine);
                    CAPTURE(precision);
                    check_gaussian(*perm::compute(input.csr(), in_precision(engine, precision)).raw(), truth);
                }
            const perm::Plan plan(input.csr(), in_precision("auto", "auto"));
            check_gaussian(*plan.execute(input.values()).raw(), truth);
            const perm::Plan again = perm::Plan::load(plan.save(), in_precision("auto", "auto"));
            again.check_matrix(input.csr());
            check_gaussian(*again.execute(input.values()).raw(), truth);
            perm_csr unknown = input.csr(); // its values
            if (kind.type == PERM_VALUE_PATTERN) continue;
            unknown.values = nullptr;
            check_gaussian(*perm::Plan(unknown, in_precision("auto", "auto")).execute(input.values()).raw(),
                           truth);
        }
    CHECK(nonzero > run::enough(300));
}

TEST_CASE("derivatives by entries and weights are those of the sum") {
    Random random(run::seed(2402));
    int compared = 0;
    for (const DrawnKind &kind : kinds) {
        if (kind.type == PERM_VALUE_PATTERN || kind.type == PERM_VALUE_TEXT) continue;
        for (int i = 0; i < run::cases(150); ++i) {
            MatchingMatrix a = random_matchings(random, kind.draw);
            const MatchingInput input = input_of(a, kind, random);
            CAPTURE(kind.name);
            CAPTURE(i);
            const std::size_t parts = kind.type == PERM_VALUE_C128 ? 2 : 1;
            const auto count = static_cast<std::size_t>(input.value_count());
            std::vector<double> derivatives(count * parts + 1), bounds(count + 1);
            const perm::Plan plan(input.csr());
            check_gaussian(*plan.gradient(input.values(), derivatives.data(), bounds.data()).raw(),
                           oracle::over_matchings(a));
            for (std::size_t k = 0; k < count; ++k) {
                // It is linear in each line's copies together only where there is one.
                if (!a.row_times.empty() || !a.col_times.empty()) continue;
                const auto [row, col] = input.places()[k];
                const auto number = [&](MatchingMatrix &of) -> Gaussian & {
                    if (row < 0) return (*of.col_weights)[static_cast<std::size_t>(col)];
                    if (col < 0) return (*of.row_weights)[static_cast<std::size_t>(row)];
                    return of.entries[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)];
                };
                MatchingMatrix with = a, without = a;
                number(with) = Gaussian{1, 0};
                number(without) = Gaussian{};
                const Gaussian truth =
                    difference(oracle::over_matchings(with), oracle::over_matchings(without));
                if (!std::isfinite(bounds[k]) || !std::isfinite(derivatives[k * parts])) continue;
                const Gaussian told{mpq_class(derivatives[k * parts]),
                                    parts == 2 ? mpq_class(derivatives[k * parts + 1]) : mpq_class(0)};
                CAPTURE(k);
                CHECK(within(told, truth, mpq_class(bounds[k])));
                ++compared;
            }
        }
    }
    CHECK(compared > run::enough(3000));
}
