// Quasi-separable matrices modulo primes: generators, orders and walks against exact sums over sets, known
// numbers, and what is not quasi-separable.
#include "lib/number/residues.hpp"
#include "lib/structure/separable/orders.hpp"
#include "lib/structure/separable/walk.hpp"
#include "tests/lib/separable/dense_residues.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

using namespace libperm;

namespace {

// Of random generators, so many above and below the diagonal: many coefficients are 0 in some styles.
DenseResidues generated(std::size_t n, std::uint64_t prime, std::array<std::size_t, 2> kinds, int style,
                        Random &random) {
    const Montgomery field(prime);
    DenseResidues matrix{n, prime, std::vector<std::uint64_t>(n * n, 0)};
    for (const bool is_below : {false, true})
        for (std::size_t t = 0; t < kinds[is_below ? 1 : 0]; ++t) {
            std::vector<std::uint64_t> u, v;
            for (std::size_t k = 0; k < n; ++k) {
                u.push_back(field.to(random_residue(prime, style, random)));
                v.push_back(random_residue(prime, style, random));
            }
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    if (is_below ? i > j : i < j) {
                        std::uint64_t &x = matrix.values[i * n + j];
                        x = field.add(x, field.multiply(u[i], v[j]));
                    }
        }
    for (std::size_t k = 0; k < n; ++k) matrix.values[k * n + k] = random_residue(prime, style, random);
    return matrix;
}

DenseResidues permuted(const DenseResidues &matrix, Random &random) {
    const auto n = static_cast<std::int64_t>(matrix.n);
    const std::vector<std::int64_t> rows = random.permutation(n), cols = random.permutation(n);
    DenseResidues other = matrix;
    for (std::size_t i = 0; i < matrix.n; ++i)
        for (std::size_t j = 0; j < matrix.n; ++j)
            other.values[at(rows[i]) * matrix.n + at(cols[j])] = matrix.values[i * matrix.n + j];
    return other;
}

} // namespace

TEST_CASE("random generators of all orders are found, and walked along") {
    Random random(run::seed(0x736571));
    for (int k = 0; k < run::cases(1200); ++k) {
        const std::uint64_t prime = primes[at(random.integer(0, 4))];
        const std::array<std::size_t, 2> kinds{at(k % 4), at(k / 4 % 4)};
        const int style = k % 3;
        const DenseResidues a = generated(at(random.integer(1, 9)), prime, kinds, style, random);
        CAPTURE(a.n);
        CAPTURE(prime);
        CAPTURE(k);
        const auto found = generators_of(a, order_as_given(a.n));
        REQUIRE(found.has_value());
        CHECK(found->above.kinds <= kinds[0]);
        CHECK(found->below.kinds <= kinds[1]);
        check_found(*found, a, order_as_given(a.n));
    }
}

TEST_CASE("kinds are used again: bands, and what changes along the diagonal") {
    Random random(run::seed(0x736572));
    for (int k = 0; k < run::cases(400); ++k) {
        const std::uint64_t prime = primes[at(random.integer(1, 4))];
        const std::int64_t n = random.integer(2, 9), above = random.integer(0, 2),
                           below = random.integer(0, 2);
        const DenseResidues band = matrix_of(at(n), prime, [&](std::int64_t i, std::int64_t j) {
            return j - i <= above && i - j <= below ? random.integer(-3, 3) : 0;
        });
        const auto found = generators_of(band, order_as_given(band.n));
        REQUIRE(found.has_value());
        check_found(*found, band, order_as_given(band.n));
        // Above the diagonal, x_i z_(i+1) ... z_(j-1) y_j: blocks of rank 1, of which some z are 0.
        const Chain of(n, random);
        const DenseResidues chain = matrix_of(at(n), prime, [&](std::int64_t i, std::int64_t j) {
            const std::int64_t product = of.entry(i, j);
            return i > j ? 3 * product : product;
        });
        const auto links = generators_of(chain, order_as_given(chain.n));
        REQUIRE(links.has_value());
        CHECK(links->above.kinds <= 2);
        check_found(*links, chain, order_as_given(chain.n));
    }
}

TEST_CASE("matrices of small values and ranks by chance") {
    Random random(run::seed(0x736573));
    int found_some = 0;
    for (int k = 0; k < run::cases(600); ++k) {
        const std::uint64_t prime = k % 2 == 0 ? 3 : 101;
        const double kept = random.uniform(0.1, 0.7);
        const DenseResidues a = matrix_of(at(random.integer(0, 9)), prime, [&](std::int64_t, std::int64_t) {
            return random.chance(kept) ? random.integer(0, 2) : 0;
        });
        const auto found = generators_of(a, order_as_given(a.n));
        if (!found) continue;
        ++found_some;
        check_found(*found, a, order_as_given(a.n));
    }
    CHECK(found_some > run::enough(150));
}

TEST_CASE("one entry off is another matrix") {
    Random random(run::seed(0x736574));
    for (int k = 0; k < run::cases(200); ++k) {
        // In the corner, where it adds one to the rank of a block that has 3.
        DenseResidues a = generated(9, large_prime, {3, 3}, 0, random);
        const std::size_t i = at(random.integer(0, 3)), j = at(random.integer(5, 8));
        std::uint64_t &entry = k % 2 == 0 ? a.values[i * 9 + j] : a.values[j * 9 + i];
        entry = (entry + 1) % large_prime;
        CHECK(!generators_of(a, order_as_given(a.n)).has_value());
        DenseResidues less = matrix_of(9, primes[at(random.integer(1, 4))], distance);
        std::uint64_t &other = less.values[at(random.integer(0, 80))];
        other = (other + 7) % less.prime;
        const auto found = generators_of(less, order_as_given(less.n));
        REQUIRE(found.has_value());
        check_found(*found, less, order_as_given(less.n));
    }
}

TEST_CASE("distances on a line: A085807") {
    const std::vector<std::uint64_t> known{1,     0,       1,        4,          64,          1152,
                                           34372, 1335008, 69599744, 4577345152, 374491314176};
    for (std::size_t n = 0; n < known.size(); ++n) {
        const auto found = generators_of(matrix_of(n, large_prime, distance), order_as_given(n));
        REQUIRE(found.has_value());
        CHECK(found->above.kinds <= 2);
        CHECK(separable_permanent(*found, tell_nobody) == known[n]);
    }
}

TEST_CASE("families, as given and with lines in any order") {
    Random random(run::seed(0x736575));
    constexpr std::int64_t n = 12;
    std::vector<std::int64_t> x, y; // points on a line, in turn
    for (std::int64_t k = 0, here = 0; k < n; ++k) {
        x.push_back(here += random.integer(1, 30));
        y.push_back(here += random.integer(0, 30));
    }
    struct Family {
        std::function<std::int64_t(std::int64_t, std::int64_t)> entry;
        std::size_t kinds;
    };
    const std::vector<Family> families{
        {distance, 2},
        {[](std::int64_t i, std::int64_t j) { return -distance(i, j); }, 2},
        {[](std::int64_t i, std::int64_t j) { return distance(i, j) * distance(i, j); }, 3},
        {[](std::int64_t i, std::int64_t j) { return n - distance(i, j); }, 2},
        {[](std::int64_t i, std::int64_t j) { return 1 + (j - i + n) % n; }, 2},
        {[](std::int64_t i, std::int64_t j) { return 1 + std::min(i, j); }, 1},
        {[](std::int64_t i, std::int64_t j) { return 1 + std::max(i, j); }, 1},
        {[](std::int64_t i, std::int64_t j) { return std::int64_t{1} << (3 * distance(i, j)); }, 1},
        {[&](std::int64_t i, std::int64_t j) { return std::abs(x[at(i)] - y[at(j)]); }, 2}};
    for (std::size_t f = 0; f < families.size(); ++f) {
        CAPTURE(f);
        const DenseResidues a = matrix_of(n, large_prime, families[f].entry);
        const auto given = generators_of(a, order_as_given(n));
        REQUIRE(given.has_value());
        CHECK(given->above.kinds <= families[f].kinds);
        CHECK(given->below.kinds <= families[f].kinds);
        check_found(*given, a, order_as_given(n));
        for (int k = 0; k < run::cases(10); ++k) {
            const DenseResidues other = permuted(a, random);
            const auto shape = separable_shape(other);
            REQUIRE(shape.has_value());
            CHECK(shape->above <= 3);
            // Modulo another prime by the same order.
            const DenseResidues again = matrix_of(n, primes[3], [&](std::int64_t i, std::int64_t j) {
                const std::uint64_t value = other.values[at(i) * n + at(j)];
                return value > large_prime / 2 ? -static_cast<std::int64_t>(large_prime - value)
                                               : static_cast<std::int64_t>(value);
            });
            const auto found = generators_of(again, shape->order);
            REQUIRE(found.has_value());
            CHECK(found->above.kinds == shape->above);
            CHECK(found->below.kinds == shape->below);
            check_found(*found, again, shape->order);
        }
    }
}

TEST_CASE("rows and columns that come by turns, in any of the ways that there are") {
    Random random(run::seed(0x736578));
    int alone = 0;
    for (int k = 0; k < run::cases(800); ++k) {
        const std::uint64_t prime = primes[at(random.integer(0, 4))];
        const std::size_t n = at(random.integer(1, 9));
        const double pairs = k % 2 == 0 ? 0.0 : 0.5;
        LineOrder walk;
        for (std::size_t row = 0, col = 0; row < n || col < n;) {
            const bool both = row < n && col < n && random.chance(pairs);
            const bool is_row = both || col == n || (row < n && random.chance(0.5));
            walk.rows.push_back(is_row ? row++ : no_line);
            walk.cols.push_back(both || !is_row ? col++ : no_line);
        }
        // Generators by step, of which the lines that come are kept.
        const std::size_t steps = walk.rows.size();
        const std::array<std::size_t, 2> kinds{at(k / 2 % 4), at(k / 8 % 4)};
        const DenseResidues wide = generated(steps, prime, kinds, k % 3, random);
        DenseResidues a{n, prime, std::vector<std::uint64_t>(n * n)};
        for (std::size_t i = 0; i < steps; ++i)
            for (std::size_t j = 0; j < steps; ++j)
                if (walk.rows[i] != no_line && walk.cols[j] != no_line)
                    a.values[walk.rows[i] * n + walk.cols[j]] = wide.values[i * steps + j];
        CAPTURE(n);
        CAPTURE(prime);
        CAPTURE(k);
        const auto along = generators_of(a, walk);
        REQUIRE(along.has_value());
        CHECK(along->above.kinds <= kinds[0]);
        CHECK(along->below.kinds <= kinds[1]);
        check_found(*along, a, walk);
        const auto path = path_through(a, order_as_given(n));
        REQUIRE(path.has_value());
        const auto found = generators_of(a, *path);
        REQUIRE(found.has_value());
        check_found(*found, a, *path);
        if (path->rows.size() > n) ++alone;
    }
    CHECK(alone > run::enough(400));
}

TEST_CASE("low ranks, boards whose rows are nested, and distances between any points") {
    Random random(run::seed(0x736579));
    for (int k = 0; k < run::cases(100); ++k) {
        const std::int64_t n = random.integer(5, 11);
        const auto sorted = [&] {
            std::vector<std::int64_t> points;
            for (std::int64_t i = 0; i < n; ++i) points.push_back(random.integer(0, 40));
            std::sort(points.begin(), points.end());
            return points;
        };
        const std::vector<std::int64_t> x = sorted(), y = sorted(), z = sorted();
        struct Family {
            std::function<std::int64_t(std::int64_t, std::int64_t)> entry;
            std::size_t kinds; // of both sides together
        };
        const std::vector<Family> families{
            {[](std::int64_t, std::int64_t) { return 3; }, 1},
            {[&](std::int64_t i, std::int64_t j) { return x[at(i)] + y[at(j)]; }, 2},
            {[&](std::int64_t i, std::int64_t j) {
                 return x[at(i)] * z[at(j)] + z[at(i)] * y[at(j)] + x[at(j)];
             },
             3},
            {[&](std::int64_t i, std::int64_t j) { return z[at(i)] * (4 * j < x[at(i)] + 10 ? 1 : 0); }, 1},
            {[&](std::int64_t i, std::int64_t j) { return std::abs(x[at(i)] - y[at(j)]); }, 4},
            {[&](std::int64_t i, std::int64_t j) { return std::max(x[at(i)], y[at(j)]); }, 2}};
        for (std::size_t f = 0; f < families.size(); ++f) {
            CAPTURE(f);
            CAPTURE(k);
            const DenseResidues a = matrix_of(at(n), large_prime, families[f].entry);
            const auto path = path_through(a, order_as_given(at(n)));
            REQUIRE(path.has_value());
            const auto found = generators_of(a, *path);
            REQUIRE(found.has_value());
            CHECK(found->above.kinds + found->below.kinds <= families[f].kinds);
            check_found(*found, a, *path);
            // Nested rows and some products cannot be told by values of an outer line, in any order.
            if (f == 2 || f == 3) continue;
            const DenseResidues other = permuted(a, random);
            const auto shape = separable_shape(other);
            REQUIRE(shape.has_value());
            check_found(*generators_of(other, shape->order), other, shape->order);
        }
    }
    // A board with lambda_i squares in row i, ascending: the product of lambda_i - i.
    const DenseResidues board = matrix_of(200, large_prime, [](std::int64_t i, std::int64_t j) {
        return j < std::min(i + 1 + i % 2, std::int64_t{200}) ? 1 : 0;
    });
    const auto path = path_through(board, order_as_given(200));
    REQUIRE(path.has_value());
    const Montgomery field(large_prime);
    std::uint64_t product = field.to(1);
    for (std::int64_t i = 0; i < 200; ++i)
        product = field.multiply(
            product, field.to(static_cast<std::uint64_t>(std::min(i + 1 + i % 2, std::int64_t{200}) - i)));
    CHECK(separable_permanent(*generators_of(board, *path), tell_nobody) == field.from(product));
}

TEST_CASE("in any order: fractions, lines times factors of their own, points that coincide") {
    Random random(run::seed(0x73657a));
    const Montgomery field(large_prime);
    int found_all = 0, cases = 0;
    for (int k = 0; k < run::cases(60); ++k) {
        const std::int64_t n = random.integer(24, 48);
        std::vector<std::int64_t> x, y;
        const std::int64_t most = random.integer(12, 200); // small: many coincide
        for (std::int64_t i = 0; i < n; ++i) {
            x.push_back(random.integer(0, most));
            y.push_back(random.integer(0, most));
        }
        const std::function<std::int64_t(std::int64_t, std::int64_t)> families[] = {
            distance, [&](std::int64_t i, std::int64_t j) { return 1 + (j - i + n) % n; },
            [&](std::int64_t i, std::int64_t j) { return std::abs(x[at(i)] - y[at(j)]); },
            [&](std::int64_t i, std::int64_t j) { return std::abs(x[at(i)] - x[at(j)]); },
            [&](std::int64_t i, std::int64_t j) { return 1 + std::max(x[at(i)], y[at(j)]); }};
        const auto family = at(k % 5);
        CAPTURE(family);
        DenseResidues a = permuted(matrix_of(at(n), large_prime, families[family]), random);
        const std::uint64_t all = random.chance(0.5) ? 3 : random.bits() % large_prime;
        const std::uint64_t factor = field.power(field.to(all), large_prime - 2);
        for (std::size_t i = 0; i < a.n; ++i) {
            const std::uint64_t of_row = k % 2 == 0 ? 1 : random.bits() % large_prime;
            for (std::size_t j = 0; j < a.n; ++j) {
                std::uint64_t &value = a.values[i * a.n + j];
                value = field.multiply(field.from(field.multiply(field.to(value), field.to(of_row))), factor);
            }
        }
        ++cases;
        const auto shape = separable_shape(a);
        if (!shape || !shape->band.is_none()) continue;
        const auto kinds = static_cast<std::size_t>(family == 4 ? 1 : 2);
        if (shape->above <= kinds && shape->below <= kinds) ++found_all;
        // By another walk the same: that with its lines the other way round.
        const auto found = generators_of(a, shape->order);
        REQUIRE(found.has_value());
        if (shape->above > 2 || shape->below > 2 || n > 32) continue;
        LineOrder reversed = shape->order;
        std::ranges::reverse(reversed.rows);
        std::ranges::reverse(reversed.cols);
        const auto back = generators_of(a, reversed);
        REQUIRE(back.has_value());
        CHECK(separable_permanent(*back, tell_nobody) == separable_permanent(*found, tell_nobody));
    }
    CHECK(10 * found_all >= 9 * cases);
    MESSAGE(found_all, " of ", cases);
}

TEST_CASE("two walks through one matrix come to the same") {
    const auto square = [](std::int64_t i, std::int64_t j) { return (i - j) * (i - j); };
    for (const std::uint64_t prime : {primes[2], large_prime}) {
        const DenseResidues a = matrix_of(24, prime, square);
        const auto pairs = generators_of(a, order_as_given(24));
        REQUIRE(pairs.has_value());
        CHECK(pairs->above.kinds + pairs->below.kinds == 6);
        const auto path = path_through(a, order_as_given(24));
        REQUIRE(path.has_value());
        const auto by_turns = generators_of(a, *path);
        REQUIRE(by_turns.has_value());
        CHECK(by_turns->above.kinds + by_turns->below.kinds == 3);
        CHECK(separable_permanent(*pairs, tell_nobody) == separable_permanent(*by_turns, tell_nobody));
    }
}

TEST_CASE("columns from the last to the first, and what has no shape") {
    Random random(run::seed(0x736576));
    for (int k = 0; k < run::cases(100); ++k) {
        DenseResidues a = generated(12, large_prime, {2, 2}, 0, random);
        for (std::size_t i = 0; i < a.n; ++i)
            std::reverse(a.values.begin() + static_cast<std::ptrdiff_t>(i * a.n),
                         a.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * a.n));
        const auto shape = separable_shape(a);
        REQUIRE(shape.has_value());
        CHECK(shape->above + shape->below == 4);
        const auto found = generators_of(a, shape->order);
        REQUIRE(found.has_value());
        check_found(*found, a, shape->order);
        for (std::uint64_t &x : a.values) x = random.bits() % large_prime;
        CHECK(!separable_shape(a).has_value());
    }
}

TEST_CASE("a walk tells of its products, and stops where it is told to") {
    for (const std::size_t kinds : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
        Random random(run::seed(0x736577));
        const std::size_t n = kinds == 1 ? 900 : kinds == 2 ? 60 : 24;
        const DenseResidues a = generated(n, large_prime, {kinds, kinds}, 0, random);
        const auto found = generators_of(a, order_as_given(n));
        REQUIRE(found.has_value());
        double told = 0;
        const std::uint64_t permanent =
            separable_permanent(*found, [&](double products) { told += products; });
        const double price = separable_products(found->steps, kinds, kinds);
        CHECK(told <= price);
        CHECK(told > price - 2e6);
        CHECK(separable_bytes(found->steps, kinds, kinds) > 0);
        CHECK_THROWS_AS(separable_permanent(*found, [](double) { throw std::runtime_error("enough"); }),
                        std::runtime_error);
        // The transpose has the same permanent.
        Generators transposed = *found;
        std::swap(transposed.above, transposed.below);
        CHECK(separable_permanent(transposed, tell_nobody) == permanent);
    }
}
