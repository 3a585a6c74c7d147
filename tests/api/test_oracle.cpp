// The oracles against each other and against the known values: what the other tests lean on. No library here.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/known.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

using namespace perm::families;
using oracle::Exact;

TEST_CASE("the exact oracles reproduce every known permanent") {
    for (const Known &known : known_permanents()) {
        if (known.slow_to_check && run::multiplier() < 10) continue;
        CAPTURE(known.name);
        const Exact truth(known.permanent);
        CHECK(oracle::by_frontier(known.matrix) == truth);
        if (known.matrix.n_rows <= 9) CHECK(oracle::by_definition(known.matrix) == truth);
        if (known.matrix.n_rows <= 14) CHECK(oracle::by_ryser(known.matrix) == truth);
    }
}

TEST_CASE("the exact oracles agree on random matrices") {
    Random random(run::seed(1));
    for (int i = 0; i < run::cases(200); ++i) {
        const auto entries = static_cast<Entries>(random.integer(0, 4));
        const perm::Csr a = erdos_renyi(random.integer(0, 7), random.uniform(0.3, 1), entries, random.bits());
        CAPTURE(describe(a));
        const Exact truth = oracle::by_definition(a);
        CHECK(oracle::by_ryser(a) == truth);
        CHECK(oracle::by_frontier(a) == truth);
    }
}

TEST_CASE("doubles become rational numbers without loss") {
    const double smallest = 0x1p-1074, largest = 0x1.fffffffffffffp1023;
    CHECK(oracle::by_definition(constant(1, 0.1)) == Exact(0.1));
    CHECK(oracle::by_definition(from_dense({{smallest, 0}, {0, largest}})) ==
          Exact(smallest) * Exact(largest));
    CHECK(oracle::by_frontier(from_dense({{0.5, smallest}, {largest, 3}})) ==
          Exact(1.5) + Exact(smallest) * Exact(largest));
}

TEST_CASE("Kasteleyn's determinant is the permanent of a weighted planar grid") {
    for (const auto &[rows, columns] : {std::pair{3, 4}, {4, 4}, {5, 4}, {6, 6}, {2, 9}}) {
        for (const Entries entries : {Entries::ones, Entries::integers, Entries::real}) {
            const WeightedGrid g = weighted_grid(rows, columns, entries, run::seed(2));
            CHECK(abs(oracle::by_frontier(g.weights)) == abs(oracle::determinant(g.kasteleyn)));
        }
    }
    CHECK(oracle::determinant(from_dense({{1, 2}, {3, 4}})) == -2);
    CHECK(oracle::determinant(from_dense({{0, 2}, {0.5, 4}})) == -1);
    CHECK(oracle::determinant(constant(3, 1)) == 0);
}
