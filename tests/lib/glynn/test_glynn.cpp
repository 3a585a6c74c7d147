// The straight road of small matrices from inside: its two grids, its integers, and what it leaves to others.
#include "bench/families.hpp"
#include "lib/glynn/calls/small_calls.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/glynn_integers.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>

using namespace libperm;
using namespace perm::families;
using oracle::Exact;

namespace {

// A matrix of doubles, dense.
perm::Csr random_dense(std::int64_t n, Random &random, double zeros = 0) {
    return build(
        n, n, [&](std::int64_t, std::int64_t) { return random.chance(zeros) ? 0 : random.uniform(-1, 1); });
}

std::unique_ptr<SmallMatrix> dense(const perm::Csr &a) {
    auto out = std::make_unique<SmallMatrix>();
    REQUIRE(read_dense(a.view(), *out));
    return out;
}

// An entry far below others of its row.
void put_far_below(perm::Csr &a, Random &random) {
    for (double &x : a.values)
        if (random.chance(0.2)) x = std::ldexp(x, static_cast<int>(random.integer(-1100, 0)));
}

mpz_class whole(Int128 x) {
    const UInt128 size = x < 0 ? -static_cast<UInt128>(x) : static_cast<UInt128>(x);
    const mpz_class high = static_cast<unsigned long>(size >> 64), low = static_cast<unsigned long>(size);
    const mpz_class all = (high << 64) + low;
    return x < 0 ? mpz_class(-all) : all;
}

} // namespace

TEST_CASE("columns on two grids are the matrix, or have moved by less than they say") {
    Random random(run::seed(910));
    int moved = 0, kept = 0;
    for (int k = 0; k < run::cases(300); ++k) {
        perm::Csr a = random_dense(random.integer(4, 9), random, 0.2);
        if (k % 2 == 0) put_far_below(a, random);
        const auto matrix = dense(a);
        SmallGrid fixed;
        if (!put_on_grid(*matrix, fixed)) continue;
        Dense rows(static_cast<std::size_t>(matrix->order),
                   std::vector<double>(static_cast<std::size_t>(matrix->order)));
        std::vector<std::vector<oracle::Gaussian>> exact(rows.size(),
                                                         std::vector<oracle::Gaussian>(rows.size()));
        bool are_bounded = true;
        for (int i = 0; i < matrix->order; ++i) {
            Exact high = 0, low = 0;
            for (int j = 0; j < matrix->order; ++j) {
                const std::size_t at = matrix->at(i, j);
                high += abs(Exact(fixed.re[at]));
                low += abs(Exact(fixed.re_low[at]));
                const auto multiple_of = [](double x, double unit) { return std::fmod(x, unit) == 0; };
                are_bounded = are_bounded && multiple_of(fixed.re[at], 0x1p-53) &&
                              (matrix->order > 4 || multiple_of(fixed.re_low[at], 0x1p-105));
                exact[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = {
                    Exact(fixed.re[at]) + Exact(fixed.re_low[at]), 0};
            }
            are_bounded = are_bounded && high <= 1 && low <= Exact(0x1p-49);
        }
        CHECK(are_bounded);
        const Exact of_columns = times_power(oracle::by_subsets(exact).re, fixed.exp2),
                    truth = oracle::by_frontier(a);
        if (fixed.moved == 0) {
            CHECK(of_columns == truth);
            ++kept;
        } else {
            CHECK(abs(of_columns - truth) <= times_power(Exact(fixed.moved), fixed.exp2));
            ++moved;
        }
    }
    CHECK(moved > 0);
    CHECK(kept > 0);
}

TEST_CASE("integers are exact, or left to others") {
    Random random(run::seed(911));
    int found = 0, left = 0;
    for (int k = 0; k < run::cases(400); ++k) {
        const std::int64_t n = random.integer(1, 8);
        const int bits = static_cast<int>(random.integer(1, 63));
        perm::Csr a = build(n, n, [&](std::int64_t, std::int64_t) {
            return std::ldexp(static_cast<double>(random.integer(-9, 9)),
                              bits / 2 + static_cast<int>(random.integer(0, 3)));
        });
        std::vector<std::int64_t> values;
        for (const double x : a.values) {
            const double y =
                bits > 40 ? x * static_cast<double>(random.integer(1, std::int64_t{1} << (bits - 40))) : x;
            values.push_back(static_cast<std::int64_t>(std::clamp(y, -9e18, 9e18)) | 1);
        }
        if (random.chance(0.1) && !values.empty()) values[0] = std::numeric_limits<std::int64_t>::min();
        if (random.chance(0.1) && !values.empty()) values[0] = std::numeric_limits<std::int64_t>::max();
        perm_csr csr = a.view();
        csr.value_type = PERM_VALUE_I64;
        csr.values = values.data();
        const auto matrix = std::make_unique<SmallMatrix>();
        if (values.empty()) continue;
        REQUIRE(read_dense(csr, *matrix));
        std::vector<std::vector<oracle::Gaussian>> exact(
            static_cast<std::size_t>(n), std::vector<oracle::Gaussian>(static_cast<std::size_t>(n)));
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                exact[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].re =
                    mpz_class(static_cast<long>(matrix->integers[matrix->at(i, j)]));
        const auto sum = glynn_int128(*matrix, true, 1);
        sum ? ++found : ++left;
        if (sum) CHECK(times_power(Exact(whole(sum->re)), sum->exp2) == oracle::by_subsets(exact).re);
    }
    CHECK(found > 0);
    CHECK(left > 0);
}

TEST_CASE("proportional lines are never overlooked, others hardly ever found") {
    Random random(run::seed(912));
    for (int k = 0; k < run::cases(200); ++k) {
        const std::int64_t n = random.integer(4, 16);
        perm::Csr a = random_dense(n, random, 0.1);
        Dense rows = to_dense(a);
        CHECK(!may_have_proportional_lines(*dense(a)));
        const auto from = static_cast<std::size_t>(random.integer(0, n - 1));
        const std::size_t to =
            (from + 1 + static_cast<std::size_t>(random.integer(0, n - 2))) % static_cast<std::size_t>(n);
        const double by =
            std::ldexp(random.chance(0.5) ? -1 : 1, static_cast<int>(random.integer(-300, 300)));
        for (std::size_t j = 0; j < rows.size(); ++j) rows[to][j] = by * rows[from][j];
        a = from_dense(rows);
        CHECK(may_have_proportional_lines(*dense(a)));
        CHECK(may_have_proportional_lines(*dense(transpose(a))));
    }
    CHECK(may_have_proportional_lines(*dense(constant(16, 0.1))));
}

TEST_CASE("a term's roundings are those of its factors and products") {
    const std::array<double, 1> some{};
    const double *const is = some.data();
    CHECK(roundings_of_term({4, is}, 8) == 7);
    CHECK(roundings_of_term({4, is, nullptr, is}, 8) == 7 + 8);
    CHECK(roundings_of_term({4, is, is}, 8) == 2 * 7); // products of complex doubles are fused
    CHECK(roundings_of_term({4, is, is, is, is}, 8) == 2 * 7 + 8);
}

TEST_CASE("the sum in doubles has the same bits on any number of threads") {
    Random random(run::seed(913));
    for (const std::int64_t n : {15, 16, 17, 18}) {
        const auto a = dense(random_dense(n, random));
        TapeAnswer one, two;
        REQUIRE(glynn_double(*a, 1, one));
        for (const int threads : {2, 3, 8}) {
            REQUIRE(glynn_double(*a, threads, two));
            CHECK(one.re.mantissa == two.re.mantissa);
            CHECK(one.re.exp2 == two.re.exp2);
            CHECK(one.error.mantissa == two.error.mantissa);
        }
    }
}
