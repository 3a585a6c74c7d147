// Plans and callbacks as perm.h promises them: what a plan keeps, many threads at once, cancelling, progress.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace perm::families;
using oracle::Exact;

// ---------------------------------------------------------------- plans

TEST_CASE("a plan keeps nothing of what made it, and runs on any values") {
    Random random(run::seed(61));
    for (int i = 0; i < run::cases(30); ++i) {
        for (const char *engine : {"auto", "ryser", "frontier"}) {
            perm::Csr a = erdos_renyi(random.integer(1, 10), 0.6, Entries::real, random.bits());
            std::string name = engine;
            perm_opts opts = with_engine(name.c_str());
            perm_csr view = a.view();
            view.values = nullptr; // never looked at
            std::vector<std::int64_t> row_ptr = a.row_ptr, columns = a.col_idx;
            view.row_ptr = row_ptr.data();
            view.col_idx = columns.data();
            const perm::Plan plan(view, opts);
            std::ranges::fill(row_ptr, -1);
            std::ranges::fill(columns, -1);
            std::ranges::fill(name, '?');
            for (int k = 0; k < 4; ++k) {
                for (double &value : a.values)
                    value = random.chance(0.3) ? 0.0 : random_entry(Entries::real, random);
                CAPTURE(engine);
                CAPTURE(describe(a));
                check_result(*plan.execute(a.values.data()).raw(), oracle::by_frontier(a));
            }
            std::ranges::fill(a.values, 0.0);
            perm::Result zero = plan.execute(a.values.data());
            check_result(*zero.raw(), a.n_rows == 0 ? 1 : 0);
            CHECK(zero->exact == 1);
        }
    }
}

TEST_CASE("a plan keeps its own copy of the names of chunks and of the cache's folder") {
    const perm::Csr a = erdos_renyi(10, 0.7, Entries::real, run::seed(70));
    std::string chunks = "equal", folder = "/nonexistent";
    perm_opts opts = with_engine("hybrid");
    opts.chunks = chunks.c_str();
    opts.cache_dir = folder.c_str();
    const perm::Plan plan(a, opts);
    std::ranges::fill(chunks, '?');
    std::ranges::fill(folder, '?');
    CHECK(plan.source("sm_90").find("chunks equal") != std::string::npos);
}

TEST_CASE("plans of pattern and int64 matrices") {
    perm::Csr ones = menage(8);
    ones.pattern = true;
    check_result(*perm::Plan(ones).execute(nullptr).raw(), oracle::by_frontier(ones));

    perm_csr view = ones.view();
    view.value_type = PERM_VALUE_I64;
    const perm::Plan plan(view);
    std::vector<std::int64_t> threes(ones.col_idx.size(), -3);
    check_result(*plan.execute(threes.data()).raw(), oracle::by_frontier(ones) * Exact(6561));
}

TEST_CASE("a plan that no tape runs and the one-call form give the same bits, another the same number") {
    const perm::Csr a = erdos_renyi(16, 0.4, Entries::real, run::seed(62));
    perm_opts opts = PERM_OPTS_INIT;
    perm::Result planned = perm::Plan(a).execute(a.values.data()), direct = perm::compute(a);
    CHECK(overlap(Ball(*planned.raw()), Ball(*direct.raw())));
    opts.precision = "dd";
    planned = perm::Plan(a, opts).execute(a.values.data());
    direct = perm::compute(a, opts);
    check_same_bits(*planned.raw(), *direct.raw());
}

TEST_CASE("one plan is executed by eight threads at once") {
    const perm::Csr a = permutation_plus(18, 3, Entries::real, run::seed(63));
    for (const char *engine : {"ryser", "frontier"}) {
        const perm::Plan plan(a, with_engine(engine));
        constexpr std::size_t count = 8;
        std::vector<std::vector<double>> values(count, a.values);
        std::vector<perm::Result> alone(count), together(count);
        Random random(run::seed(64));
        for (std::size_t t = 0; t < count; ++t) {
            for (double &value : values[t]) value *= random.uniform(0.5, 2);
            alone[t] = plan.execute(values[t].data());
        }
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < count; ++t)
            threads.emplace_back([&, t] { together[t] = plan.execute(values[t].data()); });
        for (std::thread &thread : threads) thread.join();
        for (std::size_t t = 0; t < count; ++t) check_same_bits(*alone[t].raw(), *together[t].raw());
    }
}

TEST_CASE("one plan of many blocks is executed by eight threads at once") {
    const perm::Csr a = chain_of_blocks(80, 6, 0.6, Entries::real, run::seed(67));
    const perm::Plan plan(a);
    constexpr std::size_t count = 8;
    std::vector<std::vector<double>> values(count, a.values);
    std::vector<perm::Result> alone(count), together(count);
    Random random(run::seed(68));
    for (std::size_t t = 0; t < count; ++t) {
        for (double &value : values[t]) value *= random.uniform(0.5, 2);
        alone[t] = plan.execute(values[t].data());
        CHECK(alone[t]->blocks > 40);
    }
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < count; ++t)
        threads.emplace_back([&, t] { together[t] = plan.execute(values[t].data()); });
    for (std::thread &thread : threads) thread.join();
    for (std::size_t t = 0; t < count; ++t) {
        check_same_bits(*alone[t].raw(), *together[t].raw());
        CHECK(alone[t]->blocks == together[t]->blocks);
        CHECK(alone[t]->blocks_computed == together[t]->blocks_computed);
    }
}

TEST_CASE("a plan keeps its own copy of the names of reductions") {
    const perm::Csr a = tridiagonal(34, 1, 2, 3);
    std::string names = "d2,merge", rule = "paper";
    perm_opts opts = PERM_OPTS_INIT;
    opts.without = names.c_str();
    opts.decompose = rule.c_str();
    const perm::Plan plan(a, opts);
    std::ranges::fill(names, '?');
    std::ranges::fill(rule, '?');
    perm::Result r = plan.execute(a.values.data());
    check_result(*r.raw(), oracle::by_frontier(a));
    CHECK(r->blocks == 1); // of the whole: without d2
    CHECK(nlohmann::json::parse(plan.explain(PERM_FORMAT_JSON)).at("average_n") == 34);
}

TEST_CASE("different matrices are computed by eight threads at once") {
    std::vector<std::thread> threads;
    std::vector<std::string> texts(8);
    for (std::size_t t = 0; t < texts.size(); ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i) texts[t] = perm::compute(hessenberg(20 + static_cast<int>(t))).text();
        });
    for (std::thread &thread : threads) thread.join();
    for (std::size_t t = 0; t < texts.size(); ++t) CHECK(texts[t] == std::to_string(1 << (19 + t)));
}

// ---------------------------------------------------------------- callbacks

namespace {

struct Watch {
    std::atomic<int> polled = 0, reports = 0, inside = 0;
    std::atomic<bool> in_order = true, in_range = true, overlapped = false;
    std::atomic<bool> stop = false;
    double last = 0;
    int stop_after = 0; // reports
};

int cancel_when_told(void *user) {
    auto *watch = static_cast<Watch *>(user);
    ++watch->polled;
    return watch->stop ? 1 : 0;
}

int cancel_after_reports(void *user) {
    const auto *watch = static_cast<Watch *>(user);
    return watch->reports >= watch->stop_after ? 1 : 0;
}

void note_progress(double fraction, double, void *user) {
    auto *watch = static_cast<Watch *>(user);
    if (watch->inside++ != 0) watch->overlapped = true;
    if (!(fraction >= 0 && fraction <= 1)) watch->in_range = false;
    if (fraction < watch->last) watch->in_order = false;
    watch->last = fraction;
    ++watch->reports;
    --watch->inside;
}

} // namespace

TEST_CASE("the cancel callback stops every engine") {
    const std::uint64_t seed = run::seed(65);
    for (const char *engine : {"ryser", "frontier"}) {
        CAPTURE(engine);
        // Seconds to minutes of work if nobody stopped it.
        const perm::Csr a = erdos_renyi(engine[0] == 'r' ? 36 : 26, 1, Entries::real, seed);
        Watch watch;
        watch.stop = true;
        perm_opts opts = with_engine(engine);
        opts.threads = 2;
        opts.time_limit_seconds = INFINITY;
        opts.cancel = cancel_when_told;
        opts.cancel_user = &watch;
        perm_result r = PERM_RESULT_INIT;
        const perm_csr view = a.view();
        CHECK(perm_compute(&view, &opts, &r) == PERM_CANCELLED);
        CHECK(watch.polled > 0);
        CHECK(cleared(r));
        CHECK(std::strlen(perm_last_error()) > 0);

        watch.stop = false; // a plan keeps the callbacks
        perm_plan *plan = nullptr;
        REQUIRE(perm_plan_create(&view, &opts, &plan) == PERM_OK);
        watch.stop = true;
        watch.polled = 0;
        CHECK(perm_plan_execute(plan, a.values.data(), &r) == PERM_CANCELLED);
        CHECK(watch.polled > 0);
        CHECK(cleared(r));
        perm_plan_destroy(plan);
        perm_result_clear(&r);
    }
}

TEST_CASE("progress is reported in order and never from two threads at once") {
    Watch watch;
    watch.stop_after = 4;
    perm_opts opts = with_engine("ryser");
    opts.threads = 2;
    opts.time_limit_seconds = INFINITY;
    opts.progress = note_progress;
    opts.progress_user = &watch;
    opts.cancel = cancel_after_reports;
    opts.cancel_user = &watch;
    CHECK(status_of(erdos_renyi(38, 1, Entries::real, 1).view(), opts) == PERM_CANCELLED);
    CHECK(watch.reports >= 4);
    CHECK(watch.in_range);
    CHECK(watch.in_order);
    CHECK_FALSE(watch.overlapped);
}

TEST_CASE("progress over many blocks is in order, and reporting changes nothing") {
    const perm::Csr a = chain_of_blocks(50, 16, 0.8, Entries::real, run::seed(69));
    Watch watch;
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = "ryser";
    opts.threads = 2;
    perm::Result silent = perm::compute(a, opts);
    opts.progress = note_progress;
    opts.progress_user = &watch;
    perm::Result watched = perm::compute(a, opts);
    CHECK(watched->blocks == 50);
    check_same_bits(*silent.raw(), *watched.raw());
    CHECK(watch.reports > 0);
    CHECK(watch.in_range);
    CHECK(watch.in_order);
    CHECK_FALSE(watch.overlapped);
}

TEST_CASE("callbacks that do nothing change nothing") {
    const perm::Csr a = erdos_renyi(20, 0.5, Entries::real, run::seed(66));
    Watch watch;
    watch.stop_after = std::numeric_limits<int>::max();
    for (const char *engine : {"ryser", "frontier"}) {
        perm_opts opts = with_engine(engine);
        perm::Result silent = perm::compute(a, opts);
        opts.progress = note_progress;
        opts.progress_user = &watch;
        opts.cancel = cancel_after_reports;
        opts.cancel_user = &watch;
        watch.last = 0;
        check_same_bits(*silent.raw(), *perm::compute(a, opts).raw());
    }
}
