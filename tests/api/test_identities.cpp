// Identities of the permanent on random matrices. They need no oracle: two ways to the same number must
// overlap within the bounds that the library itself reports.
#include "tests/support/check.hpp"
#include "tests/support/random_matrix.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <optional>

using namespace perm::families;
using oracle::Exact;

namespace {

std::optional<Ball> permanent(const perm::Csr &a, const char *engine) {
    perm::Result r = perm::compute(a, with_engine(engine));
    if (!informative(*r.raw())) return std::nullopt;
    return Ball(*r.raw());
}

// Both sides of an identity for one random matrix; nothing when a bound is too wide to tell anything.
struct Sides {
    std::optional<Ball> left, right;
};
using Identity = std::function<Sides(const perm::Csr &a, const char *engine, Random &random)>;

void check_identity(std::uint64_t salt, std::int64_t largest, const Identity &identity) {
    Random random(run::seed(salt));
    const int cases = run::cases(60);
    int told = 0;
    for (int i = 0; i < cases; ++i) {
        const perm::Csr a = random_matrix(random.integer(1, largest), random);
        for (const char *engine : {"frontier", "ryser"}) {
            CAPTURE(engine);
            CAPTURE(describe(a));
            const Sides sides = identity(a, engine, random);
            if (!sides.left || !sides.right) continue;
            ++told;
            CHECK(overlap(*sides.left, *sides.right));
        }
    }
    CHECK(told > 2 * cases * 8 / 10);
}

std::vector<double> random_numbers(std::int64_t n, const std::function<double()> &next) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (double &value : x) value = next();
    return x;
}

} // namespace

TEST_CASE("the transpose has the same permanent") {
    check_identity(20, 12, [](const perm::Csr &a, const char *engine, Random &) {
        return Sides{permanent(a, engine), permanent(transpose(a), engine)};
    });
}

TEST_CASE("permuting rows and columns leaves the permanent") {
    check_identity(21, 12, [](const perm::Csr &a, const char *engine, Random &random) {
        const perm::Csr b = permute(a, random.permutation(a.n_rows), random.permutation(a.n_rows));
        return Sides{permanent(a, engine), permanent(b, engine)};
    });
}

TEST_CASE("diagonal blocks multiply, also when rows and columns are then permuted") {
    check_identity(22, 7, [](const perm::Csr &a, const char *engine, Random &random) {
        const perm::Csr b = random_matrix(random.integer(1, 6), random);
        const std::int64_t n = a.n_rows + b.n_rows;
        const perm::Csr both = permute(block_sum(a, b), random.permutation(n), random.permutation(n));
        const auto x = permanent(a, engine), y = permanent(b, engine);
        return Sides{permanent(both, engine), x && y ? std::optional<Ball>(*x * *y) : std::nullopt};
    });
}

TEST_CASE("powers of two in rows and columns come out as their product") {
    check_identity(23, 10, [](const perm::Csr &a, const char *engine, Random &random) {
        const auto power = [&] { return std::ldexp(1.0, static_cast<int>(random.integer(-40, 40))); };
        const std::vector<double> rows = random_numbers(a.n_rows, power),
                                  columns = random_numbers(a.n_rows, power);
        Exact factor = 1;
        for (const double x : rows) factor *= Exact(x);
        for (const double x : columns) factor *= Exact(x);
        const auto before = permanent(a, engine);
        return Sides{permanent(scale(a, rows, columns), engine),
                     before ? std::optional<Ball>(*before * Ball(factor)) : std::nullopt};
    });
}

TEST_CASE("integer factors in rows and columns come out as their product") {
    // Entries of at most 53 bits in all, so that scaling them is exact: integers only.
    check_identity(24, 10, [](const perm::Csr &, const char *engine, Random &random) {
        const std::int64_t n = random.integer(1, 10);
        const perm::Csr a = erdos_renyi(n, 0.7, Entries::integers, random.bits());
        const auto number = [&] { return static_cast<double>(random.integer(1, 99)); };
        const std::vector<double> rows = random_numbers(n, number), columns = random_numbers(n, number);
        Exact factor = 1;
        for (const double x : rows) factor *= Exact(x);
        for (const double x : columns) factor *= Exact(x);
        const auto before = permanent(a, engine);
        return Sides{permanent(scale(a, rows, columns), engine),
                     before ? std::optional<Ball>(*before * Ball(factor)) : std::nullopt};
    });
}

TEST_CASE("the permanent is additive in a row") {
    check_identity(25, 10, [](const perm::Csr &a, const char *engine, Random &random) {
        const std::int64_t row = random.integer(0, a.n_rows - 1);
        // Integers, so that the sum of the two rows is exact in double.
        const auto number = [&] { return static_cast<double>(random.integer(-99, 99)); };
        const std::vector<double> u = random_numbers(a.n_rows, number), v = random_numbers(a.n_rows, number);
        std::vector<double> sum = u;
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += v[j];
        const auto x = permanent(with_row(a, row, u), engine), y = permanent(with_row(a, row, v), engine);
        return Sides{permanent(with_row(a, row, sum), engine),
                     x && y ? std::optional<Ball>(*x + *y) : std::nullopt};
    });
}

TEST_CASE("Laplace: the expansion along a row") {
    check_identity(26, 8, [](const perm::Csr &a, const char *engine, Random &random) {
        const std::int64_t row = random.integer(0, a.n_rows - 1);
        const std::vector<double> entries = to_dense(a)[static_cast<std::size_t>(row)];
        std::optional<Ball> sum = Ball(Exact(0));
        for (std::int64_t j = 0; j < a.n_rows && sum; ++j) {
            const auto minor = permanent(minor_of(a, row, j), engine);
            sum = minor
                      ? std::optional<Ball>(*sum + Ball(Exact(entries[static_cast<std::size_t>(j)])) * *minor)
                      : std::nullopt;
        }
        return Sides{permanent(a, engine), sum};
    });
}
