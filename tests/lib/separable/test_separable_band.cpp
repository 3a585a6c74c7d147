// Quasi-separable matrices with a band modulo primes: against exact sums over sets, against walks that have
// another band or none, and what is not such a matrix.
#include "lib/structure/separable/orders.hpp"
#include "tests/lib/separable/dense_residues.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

using namespace libperm;

namespace {

// What is random about a matrix: its kinds, its band, and the style of its numbers.
struct BandedSort {
    std::array<std::size_t, 2> kinds{};
    Band band;
    int style = 0;
};

BandedSort random_sort(Random &random) {
    const auto some = [&random](std::size_t most) {
        return at(random.integer(0, static_cast<std::int64_t>(most)));
    };
    return {{some(most_kinds), some(most_kinds)},
            {some(most_band), some(most_band)},
            static_cast<int>(random.integer(0, 2))};
}

bool is_in_band(std::size_t i, std::size_t j, const Band &band) {
    return i <= j ? j - i <= band.above : i - j <= band.below;
}

DenseResidues banded(std::size_t n, std::uint64_t prime, const BandedSort &sort, Random &random) {
    const Montgomery field(prime);
    DenseResidues matrix{n, prime, std::vector<std::uint64_t>(n * n, 0)};
    for (const bool is_below : {false, true})
        for (std::size_t t = 0; t < sort.kinds[is_below ? 1 : 0]; ++t) {
            std::vector<std::uint64_t> u, v;
            for (std::size_t k = 0; k < n; ++k) {
                u.push_back(field.to(random_residue(prime, sort.style, random)));
                v.push_back(random_residue(prime, sort.style, random));
            }
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    if (is_in_band(i, j, sort.band) || is_below != (i > j)) continue;
                    std::uint64_t &x = matrix.values[i * n + j];
                    x = field.add(x, field.multiply(u[i], v[j]));
                }
        }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (is_in_band(i, j, sort.band))
                matrix.values[i * n + j] = random_residue(prime, sort.style, random);
    return matrix;
}

// |i - j| beyond the band.
DenseResidues distances_beyond(const Band &band, std::size_t n, std::uint64_t prime, Random &random) {
    return matrix_of(n, prime, [&](std::int64_t i, std::int64_t j) {
        return is_in_band(at(i), at(j), band) ? random.integer(-9, 9) : distance(i, j);
    });
}

DenseResidues without(const DenseResidues &a, std::size_t row, std::size_t col) {
    DenseResidues minor{a.n - 1, a.prime, {}};
    for (std::size_t i = 0; i < a.n; ++i)
        for (std::size_t j = 0; j < a.n; ++j)
            if (i != row && j != col) minor.values.push_back(a.values[i * a.n + j]);
    return minor;
}

std::uint64_t permanent_with(const DenseResidues &a, const Band &band) {
    const auto found = generators_of(a, order_as_given(a.n), band);
    REQUIRE(found.has_value());
    return separable_permanent(*found, tell_nobody);
}

} // namespace

TEST_CASE("kinds and bands of all sizes are found, and walked along") {
    Random random(run::seed(0x62616e31));
    for (int k = 0; k < run::cases(1500); ++k) {
        const std::uint64_t prime = primes[at(random.integer(0, 4))];
        const BandedSort sort = random_sort(random);
        const DenseResidues a = banded(at(random.integer(0, 11)), prime, sort, random);
        CAPTURE(a.n);
        CAPTURE(prime);
        CAPTURE(k);
        const auto found = generators_of(a, order_as_given(a.n), sort.band);
        REQUIRE(found.has_value());
        CHECK(found->above.kinds <= sort.kinds[0]);
        CHECK(found->below.kinds <= sort.kinds[1]);
        check_found(*found, a, order_as_given(a.n));
    }
}

TEST_CASE("lines that are 0, and kinds that are used again beyond a band") {
    Random random(run::seed(0x62616e32));
    for (int k = 0; k < run::cases(300); ++k) {
        const std::uint64_t prime = primes[at(random.integer(1, 4))];
        const std::int64_t n = random.integer(4, 10);
        const BandedSort sort = random_sort(random);
        DenseResidues a = banded(at(n), prime, sort, random);
        const std::size_t line = at(random.integer(0, n - 1));
        for (std::size_t j = 0; j < a.n; ++j) a.values[k % 2 == 0 ? line * a.n + j : j * a.n + line] = 0;
        const auto found = generators_of(a, order_as_given(a.n), sort.band);
        REQUIRE(found.has_value());
        check_found(*found, a, order_as_given(a.n));
        CHECK(separable_permanent(*found, tell_nobody) == 0);
        // Beyond the band x_i z_(i+1) ... z_(j-1) y_j: blocks of rank 1, of which some z are 0; what is
        // behind a 0 begins anew.
        const Chain of(n, random);
        const DenseResidues chain = matrix_of(at(n), prime, [&](std::int64_t i, std::int64_t j) {
            if (is_in_band(at(i), at(j), sort.band)) return random.integer(-3, 3);
            const std::int64_t product = of.entry(i, j);
            return i > j ? 3 * product : product;
        });
        const auto links = generators_of(chain, order_as_given(chain.n), sort.band);
        REQUIRE(links.has_value());
        CHECK(links->above.kinds <= 2);
        check_found(*links, chain, order_as_given(chain.n));
    }
}

TEST_CASE("one entry off beyond the band is another matrix, within it is none") {
    Random random(run::seed(0x62616e33));
    constexpr std::size_t n = 11;
    for (int k = 0; k < run::cases(200); ++k) {
        const std::size_t width = at(random.integer(1, 3));
        const BandedSort sort{{3, 3}, {width, width}, 0};
        DenseResidues a = banded(n, large_prime, sort, random);
        CHECK(generators_of(a, order_as_given(n), sort.band).has_value());
        // A band less wide has another entry of rank one in the corner of a block that has 3.
        CHECK(!generators_of(a, order_as_given(n), {width - 1, width}).has_value());
        CHECK(!generators_of(a, order_as_given(n), {width, width - 1}).has_value());
        DenseResidues within = a;
        within.values[5 * n + 5 + (k % 2 == 0 ? width : 0 - width)] ^= 1;
        const auto found = generators_of(within, order_as_given(n), sort.band);
        REQUIRE(found.has_value());
        check_found(*found, within, order_as_given(n));
        // Beyond, a block of 3 rows and 3 columns has one more in its middle.
        DenseResidues less = banded(n, large_prime, {{2, 2}, {1, 1}, 0}, random);
        const std::size_t i = at(random.integer(2, 3)), j = at(random.integer(7, 8));
        std::uint64_t &entry = less.values[k % 2 == 0 ? i * n + j : j * n + i];
        entry = (entry + 1) % large_prime;
        const auto other = generators_of(less, order_as_given(n), {1, 1});
        REQUIRE(other.has_value());
        CHECK(other->above.kinds + other->below.kinds == 5);
        check_found(*other, less, order_as_given(n));
    }
}

TEST_CASE("wider bands, narrower ones and none come to the same") {
    Random random(run::seed(0x62616e34));
    for (const std::uint64_t prime : {primes[1], large_prime}) {
        const DenseResidues a = matrix_of(32, prime, [&](std::int64_t i, std::int64_t j) {
            return distance(i, j) <= 1 ? random.integer(-9, 9) : 1 + std::min(i, j);
        });
        const std::uint64_t permanent = permanent_with(a, {0, 0}); // of more kinds
        for (const Band &band : {Band{1, 1}, Band{0, 1}, Band{1, 0}, Band{2, 1}, Band{1, 3}, Band{3, 2}})
            CHECK(permanent_with(a, band) == permanent);
        const DenseResidues wide = distances_beyond({2, 3}, 30, prime, random);
        CHECK(permanent_with(wide, {2, 3}) == permanent_with(wide, {3, 3}));
    }
}

TEST_CASE("permanents are affine in each entry of the band") {
    Random random(run::seed(0x62616e35));
    const Montgomery field(large_prime);
    for (int k = 0; k < run::cases(6); ++k) {
        const std::size_t n = at(random.integer(30, 60));
        DenseResidues a = distances_beyond({1, 1}, n, large_prime, random);
        const std::size_t row = at(random.integer(1, static_cast<std::int64_t>(n) - 2)),
                          col = row + at(random.integer(0, 2)) - 1;
        std::uint64_t &entry = a.values[row * n + col];
        entry = random.bits() % large_prime;
        const std::uint64_t with = permanent_with(a, {1, 1}), times = entry;
        entry = 0;
        const std::uint64_t less = permanent_with(a, {1, 1});
        // The diagonals of a minor without entry (i, j) are moved by one between the two.
        const std::uint64_t minor = permanent_with(without(a, row, col), {2, 2});
        CAPTURE(n);
        CHECK(minor != 0);
        CHECK(with ==
              field.from(field.add(field.to(less), field.multiply(field.to(times), field.to(minor)))));
    }
}

TEST_CASE("the cheapest band is found, in orders as given and reversed") {
    Random random(run::seed(0x62616e36));
    constexpr std::size_t n = 30;
    for (const Band &band : {Band{1, 1}, Band{0, 2}, Band{3, 0}, Band{2, 3}, Band{3, 3}})
        for (const bool is_reversed : {false, true}) {
            DenseResidues a = distances_beyond(band, n, large_prime, random);
            for (std::size_t i = 0; is_reversed && i < n; ++i)
                std::reverse(a.values.begin() + static_cast<std::ptrdiff_t>(i * n),
                             a.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
            const auto shape = separable_shape(a);
            REQUIRE(shape.has_value());
            CHECK(shape->band == band);
            CHECK(shape->above == 2);
            CHECK(shape->below == 2);
            CHECK(shape->order.cols.front() == (is_reversed ? n - 1 : 0));
            for (std::uint64_t &x : a.values) x = random.bits() % large_prime;
            CHECK(!separable_shape(a).has_value());
        }
    // Powers beyond a band, and a band beyond which there is nothing on one side.
    const DenseResidues powers = matrix_of(n, large_prime, [&](std::int64_t i, std::int64_t j) {
        const std::int64_t far = distance(i, j);
        return far <= 2 ? random.integer(1, 99) : std::int64_t{1} << (2 * far);
    });
    const DenseResidues hessenberg = matrix_of(n, large_prime, [&](std::int64_t i, std::int64_t j) {
        return i - j > 2 ? 0 : j - i > 2 ? i + j : random.integer(1, 99);
    });
    for (const DenseResidues &a : {powers, hessenberg}) {
        const auto shape = separable_shape(a);
        REQUIRE(shape.has_value());
        CHECK(shape->band == Band{2, 2});
        CHECK(permanent_with(a, shape->band) == permanent_with(a, {3, 3}));
    }
    // What needs no band has none.
    CHECK(separable_shape(matrix_of(n, large_prime, distance))->band.is_none());
}

TEST_CASE("a walk with a band tells of its products, and stops where it is told to") {
    Random random(run::seed(0x62616e37));
    for (const std::size_t kinds : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
        const std::size_t n = kinds == 1 ? 300 : kinds == 2 ? 50 : 24;
        const BandedSort sort{{kinds, kinds}, {1, 2}, 0};
        const DenseResidues a = banded(n, large_prime, sort, random);
        const auto found = generators_of(a, order_as_given(n), sort.band);
        REQUIRE(found.has_value());
        double told = 0;
        const std::uint64_t permanent =
            separable_permanent(*found, [&](double products) { told += products; });
        const double price = separable_products(found->steps, kinds, kinds, sort.band);
        CHECK(told <= price);
        CHECK(told > price - 2e6);
        CHECK(separable_bytes(found->steps, kinds, kinds, sort.band) > 0);
        CHECK_THROWS_AS(separable_permanent(*found, [](double) { throw std::runtime_error("enough"); }),
                        std::runtime_error);
        // The transpose has the same permanent.
        Generators transposed = *found;
        std::swap(transposed.above, transposed.below);
        CHECK(separable_permanent(transposed, tell_nobody) == permanent);
    }
}
