// What engine low_rank and the permanent of a product multiply: monomials by their places, polynomials, sums
// of products modulo primes.
#include "bench/families.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/low_rank/product_task.hpp"
#include "lib/number/residues.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <map>
#include <utility>
#include <vector>

using namespace libperm;
using perm::families::Random;

namespace {

std::vector<std::uint64_t> random_residues(std::size_t count, const Montgomery &field, Random &random) {
    std::vector<std::uint64_t> x;
    for (std::size_t k = 0; k < count; ++k)
        x.push_back(random.chance(0.1)   ? 0
                    : random.chance(0.1) ? field.prime() - 1
                                         : random.bits() % field.prime());
    return x;
}

} // namespace

TEST_CASE("a monomial's place, and that of what it is divided by") {
    std::size_t divided = 0;
    for (std::int32_t variables = 1; variables <= 6; ++variables)
        for (std::int32_t n = 0; n <= 8; ++n) {
            const Monomials monomials(n, variables);
            CHECK(static_cast<double>(monomials.count()) == monomial_count(n, variables));
            std::map<std::vector<std::int32_t>, std::size_t> place;
            for (std::size_t m = 0; m < monomials.count(); ++m) place.emplace(monomials.exponents(m), m);
            CHECK(place.size() == monomials.count()); // all are different
            for (const auto &[exponents, m] : place) {
                CHECK(exponents[0] >= 0);
                CHECK(m < monomials.up_to(n - exponents[0])); // its degree without the first
                if (exponents[0] < n) CHECK(m >= monomials.up_to(n - exponents[0] - 1));
                for (std::int32_t t = 1; t < variables; ++t) {
                    std::vector<std::int32_t> less = exponents;
                    --less[static_cast<std::size_t>(t)];
                    ++less[0];
                    const std::int32_t found = monomials.divided(t)[m];
                    CHECK((found == Monomials::none) == (exponents[static_cast<std::size_t>(t)] == 0));
                    if (found != Monomials::none) CHECK(place.at(less) == static_cast<std::size_t>(found));
                    ++divided;
                }
            }
        }
    CHECK(divided > 10000);
}

TEST_CASE("sums of products, of the largest residues too") {
    Random random(run::seed(0x73756d));
    for (const std::uint64_t p : {primes_below(62, 1, false)[0], std::uint64_t{3}, std::uint64_t{1000003}}) {
        const Montgomery field(p);
        for (std::size_t count = 0; count < 40; ++count) {
            const std::vector<std::uint64_t> largest(count, p - 1), x = random_residues(count, field, random),
                                                                    y = random_residues(count, field, random);
            for (const auto &[a, b] : {std::pair(&largest, &largest), std::pair(&x, &y)}) {
                std::uint64_t sum = 0;
                for (std::size_t k = 0; k < count; ++k)
                    sum = field.add(sum, field.multiply((*a)[k], (*b)[k]));
                CHECK(field.sum_of_products(a->data(), b->data(), count) == sum);
            }
        }
    }
}

TEST_CASE("products of forms in two variables") {
    Random random(run::seed(0x666f726d));
    const Montgomery field(primes_below(62, 1, false)[0]);
    for (const std::size_t n : {1, 2, 15, 16, 17, 31, 33, 62, 64, 65, 100, 127, 250, 511, 777}) {
        const std::vector<std::uint64_t> forms = random_residues(2 * n, field, random);
        std::vector<std::uint64_t> one_by_one(n + 1);
        one_by_one[0] = field.to(1);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = i + 2; k-- > 0;)
                one_by_one[k] = field.add(field.multiply(one_by_one[k], forms[2 * i]),
                                          k > 0 ? field.multiply(one_by_one[k - 1], forms[2 * i + 1]) : 0);
        std::size_t told = 0;
        CHECK(product_of_binary_forms(field, forms, [&](std::size_t count) { told += count; }) == one_by_one);
        CHECK(told == n);
    }
}

TEST_CASE("a permanent from forms of any number of variables, some of them 0") {
    Random random(run::seed(0x7065726d));
    const Montgomery field(primes_below(62, 1, false)[0]);
    int compared = 0;
    for (int k = 0; k < run::cases(100); ++k) {
        const auto n = static_cast<std::size_t>(random.integer(1, 6)),
                   r = static_cast<std::size_t>(random.integer(1, 4));
        const std::vector<std::uint64_t> u = random_residues(n * r, field, random),
                                         v = random_residues(n * r, field, random);
        std::vector<std::uint64_t> sums(std::size_t{1}
                                        << n); // over the sets of columns that the rows so far take
        sums[0] = field.to(1);
        for (std::size_t set = 1; set < sums.size(); ++set) {
            const auto i = static_cast<std::size_t>(std::popcount(set)) - 1;
            for (std::size_t j = 0; j < n; ++j)
                if (set >> j & 1)
                    sums[set] =
                        field.add(sums[set], field.multiply(sums[set ^ std::size_t{1} << j],
                                                            field.sum_of_products(&u[i * r], &v[j * r], r)));
        }
        const Monomials monomials(static_cast<std::int32_t>(n), static_cast<std::int32_t>(r));
        CHECK(permanent_of_forms(monomials, field, u, v, 1) == field.from(sums.back()));
        ++compared;
    }
    CHECK(compared == run::cases(100));
}

TEST_CASE("the bound of a product's permanent is above it, and not by far") {
    const auto factor = [](std::int64_t first, std::int64_t step) {
        ExactBlock block;
        block.pattern.rows = block.pattern.cols = 2;
        block.pattern.row_ptr = {0, 2, 4};
        block.pattern.col = {0, 1, 0, 1};
        for (std::int64_t k = 0; k < 4; ++k) block.values.push_back({mpq_class(first + k * step), 0});
        return block;
    };
    const IntegerFactors factors = integer_factors(factor(1, 1), factor(5, 2)); // 19, 31; 43, 71
    CHECK(factors.rank() == 2);
    CHECK(!factors.has_zero_line);
    CHECK(permanent_bits(factors) >= 12); // 2682
    CHECK(permanent_bits(factors) <= 16);
    CHECK(integer_factors(factor(1, 1), factor(0, 0)).rank() == 0);
    CHECK(integer_factors(factor(3, 0), factor(1, 1)).rank() == 1);
}
