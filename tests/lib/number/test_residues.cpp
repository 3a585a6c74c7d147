// Exact permanents by residues: primes, integers modulo them and back, whole numbers for fractions, and
// engine ryser modulo primes.
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/ryser/engine.hpp"
#include "tests/support/gaussian_blocks.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

using namespace libperm;
using oracle::GaussianMatrix;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x726573); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

mpz_class power_of_two(std::int64_t e) { return mpz_class(1) << static_cast<mp_bitcnt_t>(e); }

std::vector<std::uint64_t> permanents(const RyserPlan &plan, const Residues &residues) {
    call().begin(10 * plan.terms, 0);
    ResidueVector found = std::get<ResidueVector>(run_ryser(plan, residues).value);
    CHECK(call().fraction() == doctest::Approx(0.1)); // of ten such calls, of any number of primes
    return found;
}

// Primes enough for both parts below 2^b.
std::vector<std::uint64_t> primes_for(std::int64_t b, bool gaussian, int bits) {
    return primes_below(bits, at((b + 1) / (bits - 1) + 1), gaussian);
}

// The whole way from fractions to the permanent.
Gaussian permanent(const ExactBlock &block, const RyserPlan &plan, int bits) {
    const IntegerBlock whole = integer_block(plan.transposed ? transposed(block) : block);
    const bool gaussian = !whole.im.empty();
    const Residues residues =
        residues_of(whole.pattern, whole.re, whole.im, primes_for(permanent_bits(whole), gaussian, bits));
    const Gaussian integer = from_residues(residues.primes, permanents(plan, residues), gaussian);
    return {integer.re * whole.factor, integer.im * whole.factor};
}

} // namespace

TEST_CASE("the largest primes, descending; those of Gaussian integers twice") {
    CHECK(primes_below(5, 10, false) == std::vector<std::uint64_t>{31, 29, 23, 19, 17, 13, 11, 7, 5, 3});
    CHECK(primes_below(5, 4, true) == std::vector<std::uint64_t>{29, 29, 17, 17, 13, 13, 5, 5});
    CHECK(primes_below(62, 1, false).front() == (std::uint64_t{1} << 62) - 57);
    CHECK(primes_below(47, 1, false).front() == (std::uint64_t{1} << 47) - 115);
    CHECK_THROWS_AS(primes_below(5, 11, false), Error);
    for (const int bits : {20, 47, 62})
        for (const std::uint64_t p : primes_below(bits, 50, true)) {
            CHECK(p % 4 == 1);
            CHECK((p >> bits) == 0);
            const mpz_class root = square_root_of_minus_one(p);
            CHECK((root * root + 1) % p == 0);
        }
}

TEST_CASE("primes are those that GMP finds, each in its place") {
    for (std::uint64_t n = 0; n < 20000; ++n)
        CHECK(is_prime(n) == (mpz_probab_prime_p(mpz_class(n).get_mpz_t(), 30) != 0));
    // Pseudoprimes to the bases 2, 3, 5 and 7, and to the first 8 and 9 primes.
    for (const std::uint64_t n :
         {std::uint64_t{3215031751}, std::uint64_t{341550071728321}, std::uint64_t{3825123056546413051}})
        CHECK(!is_prime(n));
    for (const bool gaussian : {false, true}) {
        const auto primes = primes_below(62, 400, gaussian); // of several pieces
        std::size_t k = 0;
        for (std::uint64_t n = (std::uint64_t{1} << 62) - 1; k < primes.size(); n -= 2) {
            if (gaussian && n % 4 != 1) continue;
            if (mpz_probab_prime_p(mpz_class(n).get_mpz_t(), 30) == 0) continue;
            REQUIRE(primes[k] == n);
            k += gaussian ? 2 : 1;
        }
        CHECK(k == (gaussian ? 800 : 400));
    }
}

TEST_CASE("Montgomery's arithmetic against GMP's") {
    Random random(test_seed());
    for (std::uint64_t p : {std::uint64_t{3}, std::uint64_t{5}, std::uint64_t{1000003},
                            (std::uint64_t{1} << 47) - 115, (std::uint64_t{1} << 62) - 57}) {
        const Montgomery field(p);
        for (int trial = 0; trial < 500; ++trial) {
            const auto pick = [&] {
                const std::int64_t near = random.integer(-2, 1); // an end, or anything
                return near < 0 ? random.bits() % p : near == 0 ? 0 : p - 1;
            };
            const std::uint64_t x = pick(), y = pick(), exponent = random.bits();
            const mpz_class big_x = x, big_y = y, big_p = p, big_exponent = exponent;
            const auto agrees = [&](std::uint64_t result, const mpz_class &expected) {
                mpz_class reduced;
                mpz_fdiv_r(reduced.get_mpz_t(), expected.get_mpz_t(), big_p.get_mpz_t());
                CHECK(reduced == mpz_class(field.from(result)));
            };
            const std::uint64_t u = field.to(x), v = field.to(y);
            agrees(u, big_x);
            agrees(field.add(u, v), big_x + big_y);
            agrees(field.subtract(u, v), big_x - big_y);
            agrees(field.multiply(u, v), big_x * big_y);
            mpz_class power;
            mpz_powm(power.get_mpz_t(), big_x.get_mpz_t(), big_exponent.get_mpz_t(), big_p.get_mpz_t());
            agrees(field.power(u, exponent), power);
        }
    }
}

TEST_CASE("integers to residues and back, up to half the product of the primes") {
    Random random(test_seed() + 1);
    for (const bool gaussian : {false, true})
        for (const std::size_t count :
             {1u, 2u, 5u, 40u, 201u, 3000u}) { // the last by products of halves, on threads
            const auto primes = primes_below(gaussian ? 62 : 47, count, gaussian);
            mpz_class half = 1;
            for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) half *= primes[k];
            half = (half - 1) / 2;
            const auto pick = [&]() -> mpz_class {
                mpz_class x = 0;
                for (std::size_t k = 0; k < count; ++k) x = (x << 62) + random.bits() / 4;
                const std::int64_t kind = random.integer(0, 4);
                return kind == 0   ? half
                       : kind == 1 ? mpz_class(-half)
                       : kind == 2 ? mpz_class(0)
                                   : x % (2 * half + 1) - half;
            };
            const Pattern one{1, 1, {0, 1}, {0}};
            for (int trial = 0; trial < (count > 1000 ? 3 : 50); ++trial) {
                const mpz_class re = pick(), im = pick();
                const Residues residues =
                    residues_of(one, {re}, gaussian ? std::vector{im} : std::vector<mpz_class>{}, primes);
                std::vector<std::uint64_t> values;
                for (const auto &matrix : residues.values) values.push_back(matrix.front());
                const Gaussian back = from_residues(primes, values, gaussian);
                CHECK(back.re == re);
                CHECK(back.im == (gaussian ? im : mpz_class(0)));
            }
        }
}

TEST_CASE("whole numbers for fractions: nothing in common, the permanent's factor, and its size") {
    Random random(test_seed() + 2);
    int compared = 0;
    for (int trial = 0; trial < run::cases(200); ++trial) {
        CAPTURE(trial);
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const GaussianMatrix a = random_matrix(random.integer(1, 6), entries, random);
        const IntegerBlock whole = integer_block(full_block(a));
        GaussianMatrix b = a;
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < a.size(); ++j)
                b[i][j] = {whole.re[i * a.size() + j],
                           whole.im.empty() ? mpz_class(0) : whole.im[i * a.size() + j]};
        for (std::size_t j = 0; j < a.size(); ++j) {
            mpz_class common = 0;
            for (std::size_t i = 0; i < a.size(); ++i)
                common = gcd(gcd(common, b[i][j].re.get_num()), b[i][j].im.get_num());
            CHECK(common <= 1);
        }
        const Gaussian truth = oracle::by_subsets(a), integer = oracle::by_subsets(b);
        CHECK(truth == Gaussian{integer.re * whole.factor, integer.im * whole.factor});
        const std::int64_t bits = permanent_bits(whole);
        CHECK(abs(integer.re) < power_of_two(bits));
        CHECK(abs(integer.im) < power_of_two(bits));
        compared += integer.re != 0 || integer.im != 0;
    }
    CHECK(compared > run::enough(150));
    const std::int64_t n = 60;
    const GaussianMatrix ones(at(n), std::vector<Gaussian>(at(n), Gaussian{1, 0}));
    const mpz_class truth = mpz_class::factorial(60);
    CHECK(permanent_bits(full_block(ones)) ==
          static_cast<std::int64_t>(mpz_sizeinbase(truth.get_mpz_t(), 2)));
}

TEST_CASE("exact permanents, over subsets and over counts, of real and of complex fractions") {
    Random random(test_seed() + 3);
    int compared = 0, others = 0;
    for (int trial = 0; trial < run::cases(150); ++trial) {
        CAPTURE(trial);
        const auto entries = static_cast<Complexes>(trial % static_cast<int>(Complexes::kinds));
        const std::int64_t n = random.integer(1, 7);
        const bool equal_lines = random.chance(0.5);
        const GaussianMatrix a =
            equal_lines ? with_equal_lines(n, entries, random) : random_matrix(n, entries, random);
        const Gaussian truth = oracle::by_subsets(a);
        const ExactBlock block = random.chance(0.5) ? full_block(a) : sparse_block(a, random);
        const Pattern t = transpose(block.pattern).pattern;
        const int bits = random.chance(0.5) ? 62 : 47;
        CHECK(permanent(block, plan_ryser(block.pattern, t), bits) == truth);
        for (const bool transposed : {false, true})
            CHECK(permanent(block, plan_ryser_sum(block.pattern, t, kinds_of(a), transposed), bits) == truth);
        ++compared;
        others += !is_zero(truth);
    }
    CHECK(compared >= run::enough(150));
    CHECK(others > run::enough(100));
}

TEST_CASE("all entries equal, of order 60; and primes as small as 3") {
    for (const Gaussian &x : {Gaussian{1, 0}, Gaussian{mpq_class(-2, 7), 0}, Gaussian{3, -2}}) {
        const GaussianMatrix a(60, std::vector<Gaussian>(60, x));
        Gaussian truth{mpz_class::factorial(60), 0};
        for (int k = 0; k < 60; ++k)
            truth = {truth.re * x.re - truth.im * x.im, truth.re * x.im + truth.im * x.re};
        const ExactBlock block = full_block(a);
        const RyserPlan plan =
            plan_ryser_sum(block.pattern, transpose(block.pattern).pattern, kinds_of(a), false);
        CHECK(permanent(block, plan, 62) == truth);
    }
    Random random(test_seed() + 4);
    const GaussianMatrix a = random_matrix(9, Complexes::integers, random);
    const ExactBlock block = full_block(a);
    std::vector<mpz_class> re;
    GaussianMatrix real = a;
    for (std::size_t k = 0; k < block.values.size(); ++k) {
        re.push_back(block.values[k].re.get_num());
        real[k / 9][k % 9].im = 0;
    }
    const mpz_class truth = oracle::by_subsets(real).re.get_num();
    const std::vector<std::uint64_t> primes{3, 5, 7, 11, 13, 1000003};
    const auto found = permanents(plan_ryser(block.pattern, transpose(block.pattern).pattern),
                                  residues_of(block.pattern, re, {}, primes));
    for (std::size_t k = 0; k < primes.size(); ++k)
        CHECK(found[k] == mpz_fdiv_ui(truth.get_mpz_t(), primes[k]));
}

TEST_CASE("residues do not know of threads") {
    Random random(test_seed() + 5);
    const ExactBlock block = full_block(random_matrix(16, Complexes::integers, random));
    const IntegerBlock whole = integer_block(block);
    const Residues residues = residues_of(whole.pattern, whole.re, whole.im, primes_below(62, 2, true));
    const RyserPlan plan = plan_ryser(block.pattern, transpose(block.pattern).pattern);
    std::vector<std::vector<std::uint64_t>> found;
    for (const int threads : {1, 2, 3})
        with_threads(threads, [&] { found.push_back(permanents(plan, residues)); });
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}
