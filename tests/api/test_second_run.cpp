// Where precision auto goes on to a second run: one call, with one limit and one progress, whose first answer
// is safe.
#include "bench/families.hpp"
#include "lib/base/error.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "tests/support/blocks.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <new>
#include <string>
#include <thread>
#include <vector>

using libperm::Error, libperm::Outcome;
using namespace perm::families;
using namespace std::chrono_literals;

namespace {

constexpr auto between_callbacks = 101ms, limit = 2000ms;

struct Polls {
    bool executing = false;
    int count = 0, slow = 0; // the poll that takes longer than the limit

    // So long that the next poll calls back again.
    static int cancel(void *user) {
        auto &self = *static_cast<Polls *>(user);
        if (self.executing)
            std::this_thread::sleep_for(++self.count == self.slow ? limit : between_callbacks);
        return 0;
    }

    perm::Result execute(const perm::Csr &a, perm_opts opts) {
        opts.cancel = cancel;
        opts.cancel_user = this;
        opts.tolerance = 1e-30; // doubles cannot
        const perm::Plan plan(a, opts);
        executing = true;
        return plan.execute(a.values.data());
    }
};

struct Report {
    double fraction, seconds_left;
};

} // namespace

TEST_CASE("the time limit is the whole call's") {
    const perm::Csr a = perm::families::from_dense({{1 / 3.0, 1 / 5.0}, {1 / 7.0, 1 / 9.0}});
    Polls alone, limited;
    perm::Result first = alone.execute(a, in_precision("ryser", "double"));
    REQUIRE(first->blocks == 0); // the same few polls each time
    perm_opts opts = in_precision("ryser", "auto");
    opts.tolerance = 1e-30;
    CHECK(perm::compute(a, opts)->tolerance_met == 1);
    limited.slow = alone.count; // the last one of the first run
    opts.time_limit_seconds = std::chrono::duration<double>(limit).count();
    perm::Result r = limited.execute(a, opts);
    CHECK(r->tolerance_met == 0);
    check_same_bits(*first.raw(), *r.raw());
    CHECK(limited.count == alone.count + 1); // the one that finds the limit
}

TEST_CASE("progress never falls, and the time left is that of the run that is on") {
    std::vector<Report> reports;
    libperm::CallWatch watch;
    watch.progress_user = &reports;
    watch.progress = [](double fraction, double seconds_left, void *user) {
        static_cast<std::vector<Report> *>(user)->push_back({fraction, seconds_left});
    };
    libperm::Call control(watch);
    const auto advance = [&](double work) {
        std::this_thread::sleep_for(between_callbacks);
        control.advance(work);
        return reports.back();
    };
    CHECK(advance(0).seconds_left < 0); // planning
    control.begin(10, 1000);
    CHECK(advance(8).fraction == 0.8);
    CHECK(reports.back().seconds_left < 100);
    control.begin(0, 0); // planning again
    CHECK(advance(0).fraction == 0.8);
    CHECK(reports.back().seconds_left < 0);
    control.begin(1000, 1000);
    CHECK(advance(1).fraction == 0.8);
    CHECK(reports.back().seconds_left > 500);
    CHECK(advance(899).fraction == 0.9);
    // A run of more digits of the same, or another engine's.
    CHECK(advance(100).fraction < 1);
    control.expect_more(1000);
    CHECK(advance(500).fraction == reports[5].fraction);
    CHECK(reports.back().seconds_left > 0);
    libperm::Call part(control, 2);
    part.expect_more(500);
    CHECK(advance(1500).fraction < 1);
    CHECK(control.fraction() == 1);
    control.finish();
    CHECK(reports.size() == 9);
    CHECK(reports.back().fraction == 1);
    CHECK(reports.back().seconds_left == 0);
}

TEST_CASE("what is stopped at the time limit says how far it has come") {
    libperm::CallWatch watch;
    watch.stop_seconds = 0.001;
    const auto stopped = [](libperm::Call &control, double work) {
        std::this_thread::sleep_for(between_callbacks);
        try {
            control.advance(work);
        } catch (const Error &error) {
            CHECK(error.status() == PERM_REFUSED_TIME);
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string begin = "stopped at the time limit of 1 ms",
                      end = "; allow more with time_limit_seconds";
    libperm::Call planning(watch);
    CHECK(stopped(planning, 0) == begin + end);
    libperm::Call running(watch);
    running.begin(10, 1000);
    libperm::Call part(running, 2);
    CHECK(stopped(part, 3.6) == begin + " with 72 % of the work done" + end);
    libperm::Call last(watch);
    last.begin(10, 1000);
    CHECK(stopped(last, 10) == begin + " with 99.9 % of the work done" + end); // it has no answer
}

TEST_CASE("progress is 1 once, when there is an answer, and rises to it") {
    const std::uint64_t seed = run::seed(9501);
    perm::Csr complex = erdos_renyi(run::sanitized ? 14 : 18, 1, Entries::real, seed);
    Random random(seed);
    for (const double x : complex.values) complex.complex_values.emplace_back(x, random.uniform(-1, 1));
    perm::Csr real = erdos_renyi(16, 0.6, Entries::real, seed);
    std::vector<Report> reports;
    const auto check_reports = [&] {
        CHECK_FALSE(reports.empty());
        for (std::size_t k = 0; k < reports.size(); ++k) {
            CHECK((reports[k].fraction == 1) == (k + 1 == reports.size()));
            if (k > 0) CHECK(reports[k].fraction >= reports[k - 1].fraction);
        }
        reports.clear();
    };
    perm_opts opts = PERM_OPTS_INIT;
    opts.progress_user = &reports;
    opts.progress = [](double fraction, double seconds_left, void *user) {
        static_cast<std::vector<Report> *>(user)->push_back({fraction, seconds_left});
    };
    int several = 0;
    for (const char *engine : {"tree", "ryser", "frontier"})
        for (const double tolerance : {1e-9, 1e-15}) // numbers on two grids do, and do not
            for (perm::Csr *a : {&complex, &real}) {
                opts.engine = engine;
                opts.tolerance = tolerance;
                opts.without = "all";
                CHECK(perm::compute(*a, opts)->tolerance_met == 1);
                several += reports.size() > 1;
                check_reports();
            }
    CHECK(several > 0);
    const perm::Plan plan(real, opts);
    reports.clear();
    const perm::Task task = perm::Task::plan(plan, real.values);
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) {
        parts.push_back(task.run_shard(k));
        check_reports();
    }
    combined(task, parts);
    check_reports();
}

TEST_CASE("what stops a second run leaves the first answer; cancelling it does not") {
    Outcome outcome;
    libperm::set_value(outcome, libperm::ball_within(3, 0x1p-40, 0));
    const auto stopped_by = [&](const auto &exception) {
        return libperm::take_if_better(outcome, [&]() -> Outcome { throw exception; });
    };
    CHECK_FALSE(stopped_by(std::bad_alloc()));
    for (const perm_status status : {PERM_REFUSED_TIME, PERM_REFUSED_MEMORY, PERM_OUT_OF_MEMORY})
        CHECK_FALSE(stopped_by(Error(status, "")));
    CHECK_THROWS_AS(stopped_by(Error(PERM_CANCELLED, "")), Error);
    CHECK_THROWS_AS(stopped_by(Error(PERM_INTERNAL, "")), Error);
    CHECK(libperm::to_double(outcome.value) == 3);
    CHECK(libperm::take_if_better(outcome, [] { return Outcome(); })); // exactly 0
    CHECK(outcome.value.mantissa == 0);
}

TEST_CASE("whether a count comes with its last digit does not follow from the threads") {
    if (run::sanitized) return run::skip("exact runs of a second");
    int compared = 0;
    for (std::uint64_t seed = 0; seed < 40 && compared < 2; ++seed) {
        const perm::Csr ones = erdos_renyi(34, 0.18 + 0.002 * static_cast<double>(seed), Entries::counts,
                                           run::seed(9520) + seed);
        perm_csr a = ones.view();
        a.value_type = PERM_VALUE_PATTERN;
        a.values = nullptr;
        perm_opts exactly = PERM_OPTS_INIT;
        exactly.precision = "exact";
        exactly.threads = 1;
        exactly.without = "structure"; // by which ones have all digits anyway
        const double seconds = explained(perm::Plan(a, exactly)).at("predicted_seconds");
        if (seconds < 0.55 || seconds > 0.9) continue; // on one thread above the half, on two below
        ++compared;
        perm_opts opts = PERM_OPTS_INIT;
        opts.threads = 1;
        opts.without = exactly.without;
        const perm::Result one = perm::compute(a, opts);
        for (const int threads : {2, 7}) {
            opts.threads = threads;
            const perm::Result other = perm::compute(a, opts);
            CHECK(other.text() == one.text());
            CHECK(other->exact == one->exact);
            CHECK(other->rel_error_bound == one->rel_error_bound);
        }
    }
    CHECK(compared > 0);
}

namespace {

std::atomic<int> begun_slow{0}, begun_quick{0};
void slow() noexcept {
    std::this_thread::sleep_for(20ms);
    ++begun_slow;
}
void quick() noexcept { ++begun_quick; }

} // namespace

TEST_CASE("what is begun beside a call is begun once, and done when the call ends") {
    {
        libperm::Call control;
        libperm::Call part(control, 2);
        for (int k = 0; k < 3; ++k) {
            part.begin_beside(slow);
            control.begin_beside(quick);
            control.begin_beside(slow);
        }
    }
    CHECK(begun_slow == 1);
    CHECK(begun_quick == 1);
}
