// Matrices that fall apart into many blocks: computed once or one by one, on any number of threads, stopped
// and refused.
#include "bench/families.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace perm::families;
using nlohmann::json;
using oracle::Exact;

// ---------------------------------------------------------------- blocks

TEST_CASE("identical blocks are computed once") {
    Random random(run::seed(105));
    int compared = 0;
    for (const std::int64_t n : {3, 5, 8, 12})
        for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{200}}) {
            CAPTURE(n);
            CAPTURE(count);
            const perm::Csr block = dense_block(n, Entries::nonnegative, random);
            const Exact truth = power(oracle::by_frontier(block), static_cast<std::int64_t>(count));
            const perm::Csr a = diagonal_of(std::vector(count, block));
            perm_opts opts = PERM_OPTS_INIT;
            opts.engine = "frontier"; // not the straight road of small matrices
            perm::Result r = perm::compute(a, opts);
            check_result(*r.raw(), truth);
            CHECK(r->blocks == static_cast<std::int64_t>(count));
            CHECK(r->blocks_computed == 1);
            CHECK(informative(*r.raw()));
            ++compared;
        }
    CHECK(compared == 16);
}

TEST_CASE("blocks of different values are computed one by one") {
    Random random(run::seed(106));
    for (const std::size_t count : {std::size_t{2}, std::size_t{7}, std::size_t{200}}) {
        CAPTURE(count);
        std::vector<perm::Csr> blocks;
        for (std::size_t k = 0; k < count; ++k)
            blocks.push_back(dense_block(6, Entries::nonnegative, random));
        perm::Result r = perm::compute(diagonal_of(blocks));
        check_result(*r.raw(), product_of(blocks));
        CHECK(informative(*r.raw()));
        CHECK(r->blocks == static_cast<std::int64_t>(count));
        CHECK(r->blocks_computed == static_cast<std::int64_t>(count));

        // One number in the last place makes a difference, and those that are equal are found among others.
        std::vector<perm::Csr> some = blocks;
        some.insert(some.end(), blocks.begin(), blocks.end());
        some.push_back(blocks.front());
        some.back().values.back() = std::nextafter(some.back().values.back(), 0.0);
        perm::Result again = perm::compute(diagonal_of(some));
        check_result(*again.raw(), product_of(some));
        CHECK(again->blocks == static_cast<std::int64_t>(2 * count + 1));
        CHECK(again->blocks_computed == static_cast<std::int64_t>(count + 1));
    }
}

TEST_CASE("one singular block among many makes it 0") {
    Random random(run::seed(107));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 20; ++k) blocks.push_back(dense_block(4, Entries::real, random));
    blocks[13] = hadamard(2); // 1 - 1
    perm::Result r = perm::compute(diagonal_of(blocks));
    check_result(*r.raw(), 0);
    CHECK(r->exact == 1);
    CHECK(r.text() == "0");
}

TEST_CASE("many blocks: counts are sums, and far out of the range of double") {
    const perm::Csr block = constant(4, 1e100), ones = constant(4, 1);
    for (const char *engine : {"frontier", "ryser"}) {
        CAPTURE(std::string(engine));
        perm::Result one = perm::compute(block, without("merge", engine));
        perm::Result all = perm::compute(diagonal_of(std::vector(300, block)), without("merge", engine));
        check_result(*all.raw(), power(Exact(1e100), 1200) * power(24, 300));
        CHECK(std::string(all->engine) == engine);
        CHECK(all->blocks == 300);
        CHECK(all->blocks_computed == 1);
        CHECK(all->exp2 > 300000);
        CHECK(std::isinf(all->re));
        CHECK(all->states == one->states);
        CHECK(all->subsets == one->subsets);
        CHECK(all->peak_states == one->peak_states);
    }
    perm::Result two = perm::compute(diagonal_of({block, ones, block, ones}), without("merge", "ryser"));
    check_result(*two.raw(), power(Exact(1e100), 8) * power(24, 4));
    CHECK(two->blocks == 4);
    CHECK(two->blocks_computed == 2);
}

// ---------------------------------------------------------------- threads and cancelling

TEST_CASE("many blocks: 1, 2 and 3 threads give the same bits") {
    Random random(run::seed(114));
    for (const Entries entries : {Entries::real, Entries::nonnegative, Entries::integers}) {
        std::vector<perm::Csr> blocks;
        for (int k = 0; k < 200; ++k) {
            const bool again = k > 10 && random.chance(0.1);
            blocks.push_back(again ? blocks[static_cast<std::size_t>(random.integer(0, k - 1))]
                                   : dense_block(random.integer(1, 11), entries, random));
        }
        const perm::Csr a = diagonal_of(blocks);
        const Exact truth = product_of(blocks);
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            CAPTURE(std::string(engine));
            perm_opts opts = without(nullptr, engine);
            opts.threads = 1;
            perm::Result one = perm::compute(a, opts),
                         planned = plan_of_pattern(a, opts).execute(a.values.data());
            check_result(*one.raw(), truth);
            CHECK(one->blocks > 100);
            check_same_bits(*one.raw(), *planned.raw());
            for (const int threads : {2, 3, 0}) {
                CAPTURE(threads);
                opts.threads = threads;
                check_same_bits(*one.raw(), *perm::compute(a, opts).raw());
            }
        }
    }
}

namespace {

struct Stop {
    int polls = 0, last = 0; // cancels when polled for the last time
};

int cancel_at_last(void *user) {
    auto *stop = static_cast<Stop *>(user);
    return ++stop->polls >= stop->last ? 1 : 0;
}

} // namespace

TEST_CASE("the cancel callback stops a run of many blocks") {
    Random random(run::seed(115));
    // Minutes of work: short blocks, which are computed at the same time, and long ones.
    for (const std::int64_t n : {14, 24}) {
        CAPTURE(n);
        const perm::Csr block = dense_block(n, Entries::real, random);
        perm::Csr a = diagonal_of(std::vector(n == 14 ? 5000 : 300, block));
        for (double &value : a.values) value *= random.uniform(0.5, 2);
        Stop stop;
        stop.last = 1'000'000;
        perm_opts opts = without(nullptr, "ryser");
        opts.threads = 2;
        opts.cancel = cancel_at_last;
        opts.cancel_user = &stop;
        perm_plan *plan = nullptr;
        perm_csr view = a.view();
        view.values = nullptr;
        REQUIRE(perm_plan_create(&view, &opts, &plan) == PERM_OK);
        for (const int last : {1, 3}) {
            stop = {0, last};
            perm::Result r;
            CHECK(perm_plan_execute(plan, a.values.data(), r.raw()) == PERM_CANCELLED);
            CHECK(stop.polls == last);
            CHECK(r->text == nullptr);
            CHECK(r->blocks == 0);
        }
        perm_plan_destroy(plan);
    }
}

TEST_CASE("blocks of one pattern are predicted as such, however many they are") {
    Random random(run::seed(121));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 3000; ++k) blocks.push_back(dense_block(3, Entries::real, random));
    const json plan = explained(perm::Plan(diagonal_of(blocks), without(nullptr, "auto")));
    CHECK(plan.at("blocks") == 3000);
    CHECK(plan.at("predicted_seconds").get<double>() < 0.3); // to plan each would take 3e-4 s
}

TEST_CASE("products of many exact numbers are what they are one by one") {
    Random random(run::seed(122));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 1000; ++k) blocks.push_back(dense_block(3, Entries::real, random));
    const Exact truth = product_of(blocks);
    for (const char *precision : {"dd", "mpfr:200", "auto"}) {
        CAPTURE(precision);
        perm_opts opts = PERM_OPTS_INIT;
        opts.precision = precision;
        perm::Result r = perm::compute(diagonal_of(blocks), opts);
        check_result(*r.raw(), truth);
        CHECK(r->rel_error_bound < 1e-9);
    }
}

TEST_CASE("blocks that are short one by one are refused when together they take too long") {
    Random random(run::seed(120));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 600; ++k) blocks.push_back(dense_block(26, Entries::real, random));
    perm_opts opts = without(nullptr, "ryser");
    opts.threads = 1;
    opts.time_limit_seconds = 100; // to plan them takes a moment, to compute one some seconds
    const perm::Csr one = blocks.front(), all = diagonal_of(blocks);
    CHECK(explained(perm::Plan(one, opts)).at("refused") == false);
    const perm_csr view = all.view();
    perm::Result r;
    CHECK(perm_compute(&view, &opts, r.raw()) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("600 blocks") != std::string::npos);
    CHECK(r->blocks == 0);
    const json plan = explained(perm::Plan(all, opts));
    CHECK(plan.at("refused") == true);
    CHECK(plan.at("blocks") == 600);
    // Where they are all the same they are one.
    const json same = explained(perm::Plan(diagonal_of(std::vector(600, one)), opts));
    CHECK(same.at("blocks") == 600);
    CHECK(same.at("refused") == false);
}

// ---------------------------------------------------------------- what the engines rely on

TEST_CASE("no perfect matching: 0, exactly, also where none was looked for and tables are small") {
    Random random(run::seed(120));
    int singular = 0;
    for (int trial = 0; trial < run::cases(300); ++trial) {
        const std::int64_t n = random.integer(2, 9);
        perm::Csr a = erdos_renyi(n, random.uniform(0.1, 0.6), Entries::ones, random.bits());
        if (oracle::by_frontier(a) != 0) continue;
        ++singular;
        CAPTURE(describe(a));
        for (const char *names : {"matching,dm", "all", "all,scaling"})
            for (const char *engine : {"auto", "frontier", "ryser"}) {
                perm_opts opts = without(names, engine);
                opts.memory_limit_bytes = 200000; // so that the dense form may be the one that fits
                perm::Result r = perm::compute(a, opts);
                check_result(*r.raw(), 0);
                CHECK(r->exact == 1);
            }
    }
    CHECK(singular > run::enough(100));
    const perm::Csr empty = build(2, 2, [](std::int64_t, std::int64_t) { return 0.0; });
    check_result(*perm::compute(empty, without("all")).raw(), 0);
}

TEST_CASE("no perfect matching in a part of a published expansion") {
    // Five rows share four columns; the others make a band around them.
    const perm::Csr a = build(60, 60, [](std::int64_t i, std::int64_t j) {
        return i < 6 ? (j < 5 ? 1.0 : 0.0) : (j == i || j == i - 3 || j == (i + 7) % 60 ? 1.0 : 0.0);
    });
    perm_opts opts = as_published();
    opts.without = "matching,dm";
    check_result(*perm::compute(a, opts).raw(), 0);
    check_result(*perm::compute(a, without("matching,dm")).raw(), 0);
}

TEST_CASE("entries that cancel exactly in a compression do not stand in the way of scaling") {
    // Row i takes column 2i with x or 2i + 1 with -x, and the even columns of the other pairs with 1/x; row k
    // + m takes columns 2m and 2m + 1 with x. What is left are derangements.
    const double x = 0x1p1000;
    for (const std::int64_t k : {3, 4, 5}) {
        const perm::Csr a = build(2 * k, 2 * k, [&](std::int64_t i, std::int64_t j) {
            if (i >= k) return j / 2 == i - k ? x : 0.0;
            if (j / 2 == i) return j % 2 == 0 ? x : -x;
            return j % 2 == 0 ? 1 / x : 0.0;
        });
        const Exact truth = oracle::by_frontier(a);
        REQUIRE(truth != 0);
        for (const char *engine : {"auto", "frontier", "ryser"}) {
            perm::Result r = perm::compute(a, without("", engine));
            check_result(*r.raw(), truth);
            CHECK(r->rel_error_bound < 1e-9);
        }
    }
}

TEST_CASE("without scaling: out of range is an error or an honest bound") {
    const std::vector<double> diagonal{1e300, 1e-300, 1e-300, 1e-300, 1e300};
    const perm::Csr a = build(5, 5, [&](std::int64_t i, std::int64_t j) {
        return i == j ? diagonal[static_cast<std::size_t>(i)] : 0;
    });
    const Exact truth = oracle::by_frontier(a);
    Random random(run::seed(121));
    for (const char *engine : {"auto", "frontier", "ryser"})
        for (int order = 0; order < 20; ++order) {
            const auto rows = random.permutation(5);
            const perm::Csr b = permute(a, rows, random.permutation(5));
            perm::Result r;
            const perm_csr view = b.view();
            const perm_opts opts = without("all,scaling", engine);
            const perm_status status = perm_compute(&view, &opts, r.raw());
            CHECK((status == PERM_OK || status == PERM_UNSUPPORTED));
            if (status == PERM_OK) check_result(*r.raw(), truth);
        }
}

TEST_CASE("a hub that all other rows meet is taken out") {
    perm::Result r = perm::compute(arrow(1500, Entries::ones, 1));
    CHECK(r.text() == "1500");
    CHECK(std::string(r->engine) == "none");
}

TEST_CASE("whether many short blocks fit the memory does not depend on the threads" *
          doctest::skip(run::sanitized)) {
    Random random(run::seed(122));
    std::vector<perm::Csr> blocks;
    for (int k = 0; k < 60; ++k) blocks.push_back(erdos_renyi(12, 1, Entries::real, random.bits()));
    const perm::Csr a = diagonal_of(blocks);
    for (const std::int64_t limit : {60000, 100000, 300000}) {
        CAPTURE(limit);
        std::vector<perm_status> statuses;
        for (const int threads : {1, 2, 1, 2}) {
            perm_opts opts = without("d1,d2,fm");
            opts.memory_limit_bytes = limit;
            opts.threads = threads;
            perm::Result r;
            const perm_csr view = a.view();
            statuses.push_back(perm_compute(&view, &opts, r.raw()));
        }
        for (const perm_status status : statuses) CHECK(status == statuses.front());
    }
}
