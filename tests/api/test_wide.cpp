// Large n and wide frontiers: keys of several words, few states among many active columns.
#include "bench/families.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

using namespace perm::families;
using oracle::Exact;

namespace {

// The permanent of a weighted grid from Kasteleyn's determinant; the sign between the two is the grid's own
// and comes from the same grid with all weights 1, whose permanent is positive.
Exact by_kasteleyn(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed) {
    const Exact ones = oracle::determinant(weighted_grid(rows, columns, Entries::ones, seed).kasteleyn);
    return oracle::determinant(weighted_grid(rows, columns, entries, seed).kasteleyn) * sgn(ones);
}

// Of hundreds of rows with both signs no digit may be certain; without cancellation nearly all are.
void check_frontier(const perm::Csr &a, const Exact &truth) {
    CAPTURE(describe(a));
    perm::Result r = perm::compute(a, with_engine("frontier"));
    check_result(*r.raw(), truth);
    if (std::ranges::all_of(a.values, [](double x) { return x >= 0; })) {
        check_nonnegative_result(*r.raw(), truth);
        CHECK(r->rel_error_bound < 1e-9); // as asked for
    }
}

} // namespace

TEST_CASE("planar grids with weights of both signs, n = 161 and 207: Kasteleyn's determinant" *
          doctest::skip(run::sanitized)) {
    const std::uint64_t seed = run::seed(80);
    for (const auto &[rows, columns] : {std::pair{14, 23}, {18, 23}}) {
        for (const Entries entries : {Entries::counts, Entries::integers}) {
            const perm::Csr a = weighted_grid(rows, columns, entries, seed).weights;
            CHECK(a.n_rows == rows * columns / 2);
            check_frontier(a, by_kasteleyn(rows, columns, entries, seed));
        }
    }
}

TEST_CASE("a planar grid hidden by a permutation of rows and columns") {
    Random random(run::seed(81));
    const perm::Csr a = weighted_grid(10, 22, Entries::integers, 5).weights;
    const perm::Csr hidden = permute(a, random.permutation(a.n_rows), random.permutation(a.n_rows));
    check_frontier(hidden, by_kasteleyn(10, 22, Entries::integers, 5));
}

TEST_CASE("banded matrices, n = 161 and 207") {
    for (const std::int64_t n : {161, 207}) {
        const perm::Csr a = banded(n, 3, 4, Entries::real, run::seed(82));
        check_frontier(a, oracle::by_frontier(a));
        const perm::Csr b = banded(n, 3, 4, Entries::nonnegative, run::seed(83));
        check_frontier(b, oracle::by_frontier(b));
        check_nonnegative_result(*perm::compute(b).raw(), oracle::by_frontier(b));
    }
}

TEST_CASE("arrows: as many active columns as there are, few states") {
    for (const std::int64_t n : {63, 64, 65, 66, 100, 127, 128, 129, 150, 192, 300}) {
        const perm::Csr a = arrow(n, Entries::real, run::seed(84));
        check_frontier(a, oracle::by_frontier(a));
        check_frontier(transpose(a), oracle::by_frontier(a));
        check_frontier(arrow(n, Entries::ones, 0), Exact(static_cast<long>(n)));
    }
}

TEST_CASE("full triangles: the product of the diagonal") {
    Random random(run::seed(85));
    for (const std::int64_t n : {40, 64, 65, 129, 200}) {
        const perm::Csr a = triangular(n, Entries::integers, random.bits());
        Exact truth = 1;
        const Dense rows = to_dense(a);
        for (std::size_t i = 0; i < rows.size(); ++i) truth *= Exact(rows[i][i]);
        check_frontier(a, truth);
        check_frontier(permute(a, random.permutation(n), random.permutation(n)), truth);
    }
}

TEST_CASE("many blocks: a long matrix of narrow parts") {
    for (const Entries entries : {Entries::real, Entries::nonnegative}) {
        perm::Csr a = banded(1, 0, 0, entries, run::seed(86));
        Exact truth = oracle::by_frontier(a);
        Random random(run::seed(87));
        for (int i = 0; i < 25; ++i) {
            const perm::Csr block = erdos_renyi(random.integer(1, 8), 0.8, entries, random.bits());
            const Exact value = oracle::by_frontier(block);
            if (value == 0) continue;
            truth *= value;
            a = block_sum(a, block);
        }
        CHECK(a.n_rows > 60);
        check_frontier(permute(a, random.permutation(a.n_rows), random.permutation(a.n_rows)), truth);
    }
}

TEST_CASE("tridiagonal of thousands of rows: Fibonacci numbers far beyond double, with certain digits" *
          doctest::skip(run::sanitized)) {
    for (const std::int64_t n : {1000, 5000, 20000}) {
        mpz_class fibonacci;
        mpz_fib_ui(fibonacci.get_mpz_t(), static_cast<unsigned long>(n + 1));
        perm::Result r = perm::compute(tridiagonal(n, 1, 1, 1));
        check_result(*r.raw(), Exact(fibonacci));
        CHECK(r->rel_error_bound < 1e-9); // as asked for
    }
}
