// Who runs which shard, as all ranks conclude it from their reports, and what rank 0 makes of these; ranks
// are played here.
#include "capi/mpi/ranks.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/input/options.hpp"
#include "lib/run/tasks.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace libperm::mpi;

namespace {

// A rank that is left out is warned of.
const bool is_quiet = (libperm::set_log_level(0), true);

using Shards = Schedule::Shards;

std::set<std::int64_t> all_of(std::int64_t shards) { return missing_of(libperm::PieceStore(), shards); }

Report done(std::int64_t finished, std::int64_t target = 0, bool is_busy = false) {
    Report report;
    report.finished = finished;
    report.target = target;
    report.is_busy = is_busy;
    return report;
}

Report asking(std::int64_t target, bool is_busy = false) { return done(0, target, is_busy); }

Report failed(perm_status status, std::int64_t finished = 0) {
    Report report = done(finished);
    report.status = status;
    return report;
}

// That of rank 0, which decides.
Report stopping(Report report, Stop stop) {
    report.stop = stop;
    return report;
}

} // namespace

TEST_CASE("shards are handed out in order, and whoever finds none waits for the end") {
    Schedule schedule({0, 1, 3, 4}, 3); // 2 is known
    schedule.take({asking(2), asking(2), asking(2)});
    CHECK(schedule.given_to(0) == Shards{0, 1});
    CHECK(schedule.given_to(1) == Shards{3, 4});
    CHECK(schedule.given_to(2).empty());
    CHECK(schedule.done() == doctest::Approx(0));
    Report half = asking(2, true);
    half.fraction = 0.5;
    schedule.take({half, half, asking(2)});
    CHECK(schedule.done() == doctest::Approx(1));
    CHECK(schedule.given_to(0).empty());
    CHECK(schedule.shards_of(0) == Shards{0, 1});
    schedule.take({done(1, 2, true), done(2, 2), asking(2)});
    CHECK(schedule.shards_of(0) == Shards{1});
    CHECK(schedule.shards_of(1).empty());
    CHECK(schedule.done() == doctest::Approx(3));
    CHECK_FALSE(schedule.is_over());
    schedule.take({done(1, 2), asking(2), asking(2)});
    CHECK(schedule.is_complete());
    CHECK(schedule.is_over());
    CHECK(schedule.stop() == Stop::no);
}

TEST_CASE("where nothing is missing it is over at once") { CHECK(Schedule({}, 2).is_over()); }

TEST_CASE("a rank is given what its reserve is short of") {
    Schedule schedule(all_of(9), 2);
    schedule.take({asking(3), asking(1)});
    CHECK(schedule.given_to(0) == Shards{0, 1, 2});
    CHECK(schedule.given_to(1) == Shards{3});
    schedule.take({done(1, 3, true), asking(1, true)});
    CHECK(schedule.given_to(0) == Shards{4});
    CHECK(schedule.given_to(1).empty());
    schedule.take({asking(2, true), done(1, 3)});
    CHECK(schedule.given_to(0).empty()); // it has more than it would have now
    CHECK(schedule.given_to(1) == Shards{5, 6, 7});
}

TEST_CASE("a rank whose GPU fails or whose memory does not suffice is left out, its shards run elsewhere") {
    for (const perm_status status : {PERM_GPU_FAILED, PERM_OUT_OF_MEMORY}) {
        CAPTURE(status);
        Schedule schedule(all_of(3), 2);
        schedule.take({asking(2), asking(1)});
        CHECK(schedule.given_to(0) == Shards{0, 1});
        CHECK(schedule.given_to(1) == Shards{2});
        schedule.take({asking(2, true), done(1, 1)});
        CHECK(schedule.given_to(1).empty());
        schedule.take({failed(status), asking(1)});
        CHECK(schedule.given_to(1) == Shards{0});
        schedule.take({asking(2), done(1, 1)});
        CHECK(schedule.given_to(0).empty());
        CHECK(schedule.given_to(1) == Shards{1});
        schedule.take({asking(2), done(1, 1)});
        CHECK(schedule.is_complete());
        CHECK(schedule.stop() == Stop::no);
    }
}

TEST_CASE("of a rank that is left out counts what it finished, and the rest comes first") {
    Schedule schedule(all_of(6), 2);
    schedule.take({asking(3), asking(0)});
    CHECK(schedule.given_to(0) == Shards{0, 1, 2});
    schedule.take({failed(PERM_GPU_FAILED, 1), asking(3)});
    CHECK(schedule.given_to(0).empty());
    CHECK(schedule.given_to(1) == Shards{1, 2, 3});
    schedule.take({asking(3), done(3, 3)});
    CHECK(schedule.given_to(0).empty());
    CHECK(schedule.given_to(1) == Shards{4, 5});
}

TEST_CASE("when nobody is left, the call ends") {
    Schedule schedule(all_of(4), 2);
    schedule.take({asking(1), asking(1)});
    schedule.take({failed(PERM_GPU_FAILED), asking(1, true)});
    CHECK_FALSE(schedule.is_over());
    schedule.take({asking(1), failed(PERM_OUT_OF_MEMORY)});
    CHECK(schedule.is_over());
    CHECK_FALSE(schedule.is_complete());
}

TEST_CASE("another error ends it everywhere") {
    Schedule schedule(all_of(9), 3);
    schedule.take({asking(2), asking(1), asking(0)});
    schedule.take({asking(2, true), failed(PERM_REFUSED_MEMORY), asking(2)});
    CHECK(schedule.stop() == Stop::abort);
    CHECK(schedule.given_to(2).empty());
    CHECK_FALSE(schedule.is_over()); // rank 0 has not ended yet
    schedule.take({done(1), asking(1), asking(2)});
    CHECK(schedule.is_over());
    CHECK_FALSE(schedule.is_complete());
}

TEST_CASE("a stop lets running shards come to their end, or not even that") {
    Schedule schedule(all_of(9), 2);
    schedule.take({asking(2), asking(2)});
    schedule.take({asking(2, true), failed(PERM_CANCELLED)}); // rank 1's caller: rank 0 is to decide
    CHECK(schedule.stop() == Stop::no);
    CHECK(schedule.given_to(0).empty());
    schedule.take({stopping(done(1, 2, true), Stop::finish), asking(3, true)});
    CHECK(schedule.stop() == Stop::finish);
    CHECK(schedule.given_to(0).empty());
    CHECK(schedule.given_to(1).empty());
    CHECK_FALSE(schedule.is_over());
    schedule.take({asking(2, true), done(1)});
    CHECK(schedule.stop() == Stop::finish);
    schedule.take({stopping(asking(2, true), Stop::abort), asking(2)});
    CHECK(schedule.stop() == Stop::abort);
    CHECK_FALSE(schedule.is_over());
    schedule.take({asking(2), asking(2)});
    CHECK(schedule.is_over());
    CHECK_FALSE(schedule.is_complete());
    CHECK(schedule.done() == doctest::Approx(2));
}

TEST_CASE("every shard is run once, whoever fails and in whatever order") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        const std::size_t ranks = 1 + below(6);
        const auto shards = static_cast<std::int64_t>(1 + below(60));
        Schedule schedule(all_of(shards), static_cast<int>(ranks));
        std::vector<Shards> queues(ranks); // as the workers have them
        std::vector<char> has_failed(ranks, 0);
        std::multiset<std::int64_t> run;
        for (int round = 0; round < 10000 && !schedule.is_over(); ++round) {
            std::vector<Report> reports;
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                Shards &queue = queues[rank];
                const bool fails = rank > 0 && !queue.empty() && below(20) == 0; // rank 0 never does
                Report report =
                    fails ? failed(PERM_GPU_FAILED) : asking(1 + static_cast<std::int64_t>(below(4)));
                for (std::size_t count = below(3); count > 0 && queue.size() > (fails ? 1U : 0U); --count) {
                    CHECK(schedule.shards_of(static_cast<int>(
                              rank))[static_cast<std::size_t>(report.finished)] == queue.front());
                    run.insert(queue.front());
                    queue.pop_front();
                    ++report.finished;
                }
                if (fails) {
                    queue.clear();
                    has_failed[rank] = 1;
                }
                report.is_busy = !queue.empty();
                reports.push_back(report);
            }
            schedule.take(reports);
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const Shards &given = schedule.given_to(static_cast<int>(rank));
                if (has_failed[rank]) CHECK(given.empty());
                queues[rank].insert(queues[rank].end(), given.begin(), given.end());
            }
        }
        CHECK(schedule.is_complete());
        CHECK(schedule.stop() == Stop::no);
        const std::set<std::int64_t> all = all_of(shards);
        CHECK(std::ranges::equal(run, all));
    }
}

TEST_CASE("rank 0 keeps what comes, and tells whose failure it was that ended the call") {
    libperm::Call control;
    control.begin(8, 1);
    libperm::PieceStore store;
    int writes = 0;
    Collector collector(8, store, control, [&] { ++writes; });
    CHECK(collector.poll(0) == Stop::no);
    collector.take(1, done(2), {{"part 7", "part 3"}, ""}, {7, 3, 5});
    CHECK(missing_of(store, 8) == std::set<std::int64_t>{0, 1, 2, 4, 5, 6});
    for (const libperm::Piece &piece : store.pieces())
        CHECK(piece.part == "part " + std::to_string(piece.number));
    CHECK_FALSE(collector.failure().has_value());
    CHECK(collector.poll(3) == Stop::no); // two others are half done
    CHECK(control.fraction() == doctest::Approx(3.0 / 8));

    collector.take(1, failed(PERM_GPU_FAILED), {{}, "it fell off the bus"}, {5});
    CHECK(collector.poll(2) == Stop::no);
    CHECK(collector.failure()->text == "it fell off the bus"); // should nobody be left
    collector.take(2, failed(PERM_REFUSED_MEMORY), {{}, "a test's failure"}, {});
    collector.take(0, failed(PERM_INTERNAL), {{}, "later"}, {});
    CHECK(collector.poll(2) == Stop::abort);
    CHECK(collector.failure()->status == PERM_REFUSED_MEMORY);
    CHECK(collector.failure()->text == "rank 2: a test's failure");
    CHECK(writes == 1);
}

TEST_CASE("after a stop there is time for running shards where what they come to is kept") {
    for (const bool is_kept : {false, true}) {
        CAPTURE(is_kept);
        libperm::Call control;
        libperm::PieceStore store(nullptr, is_kept ? [] {} : std::function<void()>());
        Collector collector(8, store, control, [] {});
        collector.take(1, failed(PERM_CANCELLED), {{}, "cancelled by the caller"}, {});
        CHECK(collector.poll(0) == (is_kept ? Stop::finish : Stop::abort));
        CHECK(collector.failure()->status == PERM_CANCELLED);
        CHECK(collector.failure()->text == "cancelled by the caller");
    }
    libperm::CallWatch watch;
    watch.stop_seconds = 0;
    libperm::Call late(watch);
    libperm::PieceStore kept(nullptr, [] {});
    Collector collector(8, kept, late, [] {});
    CHECK(collector.poll(0) == Stop::finish);
    CHECK(collector.failure()->status == PERM_REFUSED_TIME);
}

TEST_CASE("parts that cannot be kept end the call") {
    libperm::Call control;
    libperm::PieceStore store(nullptr, [] { throw libperm::Error(PERM_OUT_OF_MEMORY, "no room"); });
    Collector collector(8, store, control, [] {});
    collector.take(1, done(1), {{"part"}, ""}, {0});
    CHECK(collector.poll(1) == Stop::abort);
    CHECK(collector.failure()->text == "no room");
}

TEST_CASE(
    "a checkpoint has what was kept, and none with shards that the plan does not have is gone on from") {
    const TemporaryFolder folder;
    libperm::Options options;
    options.checkpoint = folder / "kept";
    const auto kept = [&](const auto &work) {
        libperm::KeptPieces pieces(options, {libperm::TaskIdentity::by_ranks, {}}, {}, "task");
        CHECK(pieces.plan() == "task");
        pieces.run([&](libperm::PieceStore &store) {
            work(store);
            return true;
        });
    };
    kept([](libperm::PieceStore &store) {
        store.keep({{}, 8, 0, "part"});
        store.keep({{}, 8, 7, "part"});
    });
    CHECK(libperm::plan_in_checkpoint(options, libperm::TaskIdentity::by_ranks) == "task");
    kept([&](libperm::PieceStore &store) {
        CHECK(missing_of(store, 8) == std::set<std::int64_t>{1, 2, 3, 4, 5, 6});
        CHECK_THROWS_WITH_AS(missing_of(store, 7), doctest::Contains("another plan"), libperm::Error);
    });
}
