// The walk over signs from inside: thousands of small matrices of integers, on both sides, with halved and
// with shifted rows, any order, any steps, prefixes at any depth, against the exact oracle.
#include "bench/families.hpp"
#include "jit/lanes/sieve_steps.hpp"
#include "lib/number/residues.hpp"
#include "lib/sieve/build.hpp"
#include "lib/sieve/rows.hpp"
#include "lib/sieve/sign_walk.hpp"
#include "tests/support/check.hpp"
#include "tests/support/host_queue.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/simd_targets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using namespace perm::families;
using namespace libperm;

namespace {

SieveRows rows_of(const perm::Csr &a) {
    SieveRows rows(static_cast<std::size_t>(a.n_rows));
    const Dense dense = to_dense(a);
    for (std::size_t i = 0; i < dense.size(); ++i)
        for (std::size_t j = 0; j < dense.size(); ++j)
            if (dense[i][j] != 0)
                rows[i].push_back({static_cast<std::int32_t>(j), static_cast<std::int32_t>(dense[i][j])});
    return rows;
}

// All rows of this many entries: odd, even, or as they come; with signs, and with larger numbers.
perm::Csr random_integers(std::int64_t n, Random &random) {
    const double density = random.uniform(0.2, 1);
    const std::int64_t degree = random.integer(0, 3) == 0 ? random.integer(1, n) : 0; // 0: any
    const bool has_signs = random.chance(0.4);
    const std::int64_t largest = random.chance(0.3) ? random.integer(2, 9) : 1;
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        const bool is_there = degree > 0 ? (j - i + n) % n < degree : i == j || random.chance(density);
        const auto size = static_cast<double>(random.integer(1, largest));
        return is_there ? (has_signs && random.chance(0.5) ? -size : size) : 0.0;
    });
}

SieveWay random_way(SieveRows rows, Random &random) {
    const auto n = static_cast<std::int32_t>(rows.size());
    SieveWay way{std::move(rows), random.chance(0.5), {}, {}};
    for (const std::int64_t j : random.permutation(n)) way.order.push_back(static_cast<std::int32_t>(j));
    for (std::int32_t left = n; left > 0; left -= way.steps.back())
        way.steps.push_back(
            static_cast<std::int32_t>(random.integer(1, std::min(left, most_columns_at_once))));
    return way;
}

mpz_class sum_of_walk(const SieveProgram &program, std::size_t step, std::size_t portion,
                      const OtherRows &others) {
    const std::vector<std::uint32_t> prefixes = sieve_prefixes(program, step);
    SieveWalk walk(program, step, others);
    mpz_class sum;
    const std::size_t some = portion * program.prefix_words();
    for (std::size_t from = 0; from < prefixes.size(); from += some)
        sum += walk.sums(std::span(prefixes).subspan(from, std::min(some, prefixes.size() - from)),
                         [](double) {})
                   .back();
    return sum;
}

mpz_class by_walk(const SieveProgram &program, std::size_t step, std::size_t portion) {
    mpz_class sum = sum_of_walk(program, step, portion, OtherRows());
    if (program.is_halved) sum *= 2;
    CHECK(mpz_divisible_2exp_p(sum.get_mpz_t(), program.n_halved));
    return sum >> program.n_halved;
}

} // namespace

TEST_CASE("walks over signs give the permanents of small integers") {
    Random random(run::seed(0x73696531));
    int walked = 0, dropped = 0;
    for (int k = 0; k < run::sweep(6000); ++k) {
        const perm::Csr a = random_integers(random.integer(1, 10), random);
        CAPTURE(describe(a));
        const oracle::Exact truth = oracle::by_frontier(a);
        const SieveRows rows = rows_of(a);
        const SieveWay way = random_way(random.chance(0.5) ? transposed(rows) : rows, random);
        const auto program = sieve_program(way);
        if (!program) continue;
        ++walked;
        const auto steps = static_cast<std::int64_t>(program->steps.size());
        const auto step = static_cast<std::size_t>(random.integer(0, steps - 1));
        CHECK(oracle::Exact(by_walk(*program, step, static_cast<std::size_t>(random.integer(1, 40)))) ==
              truth);
        const double whole = std::exp2(static_cast<double>(a.n_rows) - (way.is_halved ? 1 : 0));
        const auto left = sieve_prefixes(*program, program->steps.size()).size() / program->prefix_words();
        dropped += static_cast<double>(left) < whole;
    }
    CHECK(walked > run::enough(run::sweep(6000)) * 9 / 10);
    CHECK(dropped > walked / 2);
}

TEST_CASE("walks carry rows of other numbers, modulo primes") {
    Random random(run::seed(0x73696536));
    const std::vector<std::uint64_t> primes = primes_below(62, 2, false);
    int walked = 0, in_table = 0;
    for (int k = 0; k < run::sweep(3000); ++k) {
        const std::int64_t n = random.integer(1, 10);
        perm::Csr a = random_integers(n, random);
        std::vector<char> is_other(static_cast<std::size_t>(n));
        for (std::int64_t others = random.integer(1, 3); others > 0; --others)
            is_other[static_cast<std::size_t>(random.integer(0, n - 1))] = 1;
        Dense dense = to_dense(a);
        for (std::size_t i = 0; i < is_other.size(); ++i)
            for (double &x : dense[i])
                if (is_other[i] != 0 && x != 0)
                    x = std::ldexp(random.uniform(-1, 1), static_cast<int>(random.integer(8, 52)));
        for (std::vector<double> &row : dense)
            for (double &x : row) x = std::trunc(x);
        a = from_dense(dense);
        CAPTURE(describe(a));
        SieveRows rows(is_other.size());
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < rows.size(); ++j)
                if (dense[i][j] != 0)
                    rows[i].push_back({static_cast<std::int32_t>(j),
                                       is_other[i] != 0 ? -128 : static_cast<std::int32_t>(dense[i][j])});
            if (libperm::is_other(rows[i])) others.push_back(i);
        }
        const SieveWay way = random_way(rows, random);
        const auto program = sieve_program(way);
        if (!program || others.empty()) continue;
        ++walked;
        in_table += !SieveCounts::are_direct(*program);
        const auto value = [&](std::size_t matrix, std::size_t row, std::size_t t) {
            const double x = dense[others[row]][static_cast<std::size_t>(program->told[t])];
            const Montgomery field(primes[matrix]);
            const std::uint64_t size = field.to(static_cast<std::uint64_t>(std::abs(x)));
            return x < 0 ? field.subtract(0, size) : size;
        };
        const OtherRows tables(primes, others.size(), program->told.size(), value);
        const auto step =
            static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(program->steps.size()) - 1));
        const mpz_class sum =
            sum_of_walk(*program, step, static_cast<std::size_t>(random.integer(1, 40)), tables);
        const Montgomery field(primes.back());
        std::uint64_t found = mpz_fdiv_ui(sum.get_mpz_t(), primes.back());
        if (program->is_halved) found = field.add(found, found);
        const mpz_class truth = oracle::by_frontier(a).get_num() << program->n_halved;
        CHECK(field.from(found) == mpz_fdiv_ui(truth.get_mpz_t(), primes.back()));
    }
    CHECK(walked > run::enough(run::sweep(3000)) * 8 / 10);
    CHECK(in_table > 0);
}

TEST_CASE("walks have the same sums on every processor, in blocks that are full and in rests") {
    Random random(run::seed(0x73696532));
    const perm::Csr a = circulant(22, {0, 1, 4, 9, 11, 14, 20});
    const oracle::Exact truth = oracle::by_frontier(a);
    for (const bool halved : {false, true}) {
        SieveWay way{rows_of(a), halved, {}, {}};
        way.order = sieve_order(way.rows, row_factors(way.rows, halved), 1e-3).columns;
        way.steps.assign(11, 2);
        const auto program = sieve_program(way);
        REQUIRE(program);
        for_each_target([&] { CHECK(oracle::Exact(by_walk(*program, 2, 1 << 20)) == truth); });
        CHECK(oracle::Exact(by_walk(*program, 4, 3)) == truth);
    }
}

TEST_CASE("products of many different primes are told apart by two codes, in a table that grows") {
    Random random(run::seed(0x73696533));
    const perm::Csr a = build(17, 17, [&](std::int64_t, std::int64_t) {
        return static_cast<double>(random.integer(1, 6)) * (random.chance(0.5) ? -1 : 1);
    });
    SieveWay way = random_way(rows_of(a), random);
    way.is_halved = false;
    const auto program = sieve_program(way);
    REQUIRE(program);
    CHECK(program->codes == 2);
    CHECK(oracle::Exact(by_walk(*program, 1, 1 << 20)) == oracle::by_frontier(a));
}

TEST_CASE("walks on a device have the sums of those on a processor") {
    Random random(run::seed(0x73696535));
    int compared = 0;
    for (int k = 0; k < run::cases(24); ++k) {
        const perm::Csr a = k == 0 ? build(12, 12,
                                           [&](std::int64_t, std::int64_t) { // two codes
                                               return static_cast<double>(random.integer(1, 6));
                                           })
                                   : random_integers(random.integer(6, 11), random);
        CAPTURE(describe(a));
        const SieveWay way = random_way(rows_of(a), random);
        const auto program = sieve_program(way);
        if (!program || sieve_cells(*program) == 0) continue;
        const auto step = std::min<std::size_t>(1, program->steps.size() - 1);
        const std::vector<std::uint32_t> prefixes = sieve_prefixes(*program, step);
        HostQueue queue;
        SieveOnDevice device(queue, *program, step, static_cast<std::size_t>(random.integer(1, 200)));
        device.start(device.follow(prefixes));
        const SieveOnDevice::Sum found = device.finish();
        mpz_class truth;
        double met = 0;
        const OtherRows none;
        SieveWalk walk(*program, step, none);
        truth = walk.sums(prefixes, [&](double prefixes_met) { met += prefixes_met; }).front();
        CHECK(found.products == truth);
        CHECK(found.prefixes <= met);
        CHECK(queue.is_whole());
        compared += found.prefixes > 0;
    }
    CHECK(compared > run::cases(24) / 2);
}

TEST_CASE("orders that a search finds are predicted to leave no more than a greedy one") {
    Random random(run::seed(0x73696534));
    for (int k = 0; k < run::cases(5); ++k) {
        const SieveRows rows = rows_of(permutation_plus(30, 3, Entries::ones, random.bits()));
        const auto factors = row_factors(rows, false);
        const SieveOrder greedy = sieve_order(rows, factors, 0), found = sieve_order(rows, factors, 5e-3);
        CHECK(found.predicted <= greedy.predicted);
        CHECK(found.predicted == predicted_prefixes(rows, factors, found.columns));
        CHECK(sieve_order(rows, factors, 5e-3).columns == found.columns);
    }
}

TEST_CASE("the number of prefixes is estimated well, and exactly where there are few") {
    const perm::Csr a = circulant(24, {0, 1, 5, 11, 16, 18});
    SieveWay way{rows_of(a), true, {}, std::vector<std::int32_t>(24, 1)};
    way.order = sieve_order(way.rows, row_factors(way.rows, true), 1e-3).columns;
    const auto program = sieve_program(way);
    REQUIRE(program);
    const SieveProfile profile = sieve_profile(*program, 0.02);
    for (std::size_t k = 0; k <= 24; ++k) {
        const auto truth = static_cast<double>(sieve_prefixes(*program, k).size() / program->prefix_words());
        CHECK(std::abs(profile.prefixes[k] - truth) <= 0.3 * truth);
        if (truth <= 256) CHECK(profile.prefixes[k] == truth);
    }
    way.steps = best_steps(*program, profile, sieve_pace_of_thread);
    CHECK(std::accumulate(way.steps.begin(), way.steps.end(), 0) == 24);
    const auto together = sieve_program(way);
    CHECK(sieve_cost(*together, way, profile, sieve_pace_of_thread).seconds <=
          sieve_cost(*program, {way.rows, true, way.order, std::vector<std::int32_t>(24, 1)}, profile,
                     sieve_pace_of_thread)
              .seconds);
}
