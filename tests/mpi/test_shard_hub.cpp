// Who runs which shard, as rank 0 decides it; ranks are played here.
#include "capi/mpi/kept_partials.hpp"
#include "capi/mpi/shard_hub.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace libperm::mpi;

namespace {

// A rank that is left out is warned of.
const bool is_quiet = (libperm::set_log_level(0), true);

Report asking(std::int64_t wanted, std::int64_t busy = 0) {
    Report report;
    report.wanted = wanted;
    report.busy = busy;
    return report;
}

Report done(std::int64_t shard, std::int64_t wanted = 0, std::int64_t busy = 0) {
    Report report = asking(wanted, busy);
    report.finished = shard;
    report.bytes = "part " + std::to_string(shard);
    return report;
}

Report failed(std::int64_t shard, perm_status status) {
    Report report = done(shard);
    report.status = status;
    report.bytes = "a test's failure";
    return report;
}

void check_reply(const std::optional<Reply> &reply, Order order, std::int64_t first = 0,
                 std::int64_t count = 0) {
    REQUIRE(reply.has_value());
    CHECK(reply->order == order);
    CHECK(reply->count == count);
    if (count > 0) CHECK(reply->first == first);
}

} // namespace

TEST_CASE("shards are handed out in order, and whoever finds none waits for the end") {
    ShardHub hub(5, {{2, "part 2"}}, 3);
    CHECK(hub.fraction() == doctest::Approx(0.2));
    check_reply(hub.answer(0, asking(2)), Order::work, 0, 2);
    check_reply(hub.answer(1, asking(2)), Order::work, 3, 2);
    check_reply(hub.answer(1, asking(1, 2)), Order::work); // busy: told that there are none
    CHECK_FALSE(hub.answer(2, asking(2)).has_value());
    CHECK(hub.answer_waiting().empty());
    check_reply(hub.answer(0, done(0, 1, 1)), Order::work);
    CHECK_FALSE(hub.answer(0, done(1, 1)).has_value());
    check_reply(hub.answer(1, done(3, 1, 1)), Order::work);
    check_reply(hub.answer(1, done(4, 1)), Order::leave);
    CHECK(hub.is_complete());
    CHECK(hub.answer_waiting().size() == 2);
    CHECK(hub.is_over());
    CHECK_FALSE(hub.failure().has_value());
    for (const auto &[shard, bytes] : hub.partials()) CHECK(bytes == "part " + std::to_string(shard));
}

TEST_CASE("a rank whose GPU or memory fails is left out, and its shards run elsewhere") {
    for (const perm_status status : {PERM_GPU_FAILED, PERM_OUT_OF_MEMORY}) {
        CAPTURE(status);
        ShardHub hub(3, {}, 2);
        check_reply(hub.answer(0, asking(2)), Order::work, 0, 2);
        check_reply(hub.answer(1, asking(1)), Order::work, 2, 1);
        CHECK_FALSE(hub.answer(1, done(2, 1)).has_value());
        check_reply(hub.answer(0, failed(0, status)), Order::leave);
        const auto waiting = hub.answer_waiting();
        REQUIRE(waiting.size() == 1);
        CHECK(waiting[0].rank == 1);
        check_reply(waiting[0].reply, Order::work, 0, 1);
        check_reply(hub.answer(1, done(0, 1)), Order::work, 1, 1);
        check_reply(hub.answer(1, done(1, 1)), Order::leave);
        CHECK(hub.is_complete());
        CHECK_FALSE(hub.failure().has_value());
    }
}

TEST_CASE("a rank that is left out with work in reserve is told to drop it") {
    ShardHub hub(4, {}, 2);
    check_reply(hub.answer(0, asking(2)), Order::work, 0, 2);
    Report report = failed(0, PERM_GPU_FAILED);
    report.busy = 1;
    report.wanted = 1;
    check_reply(hub.answer(0, report), Order::abort);
    check_reply(hub.answer(0, asking(1)), Order::leave);
    check_reply(hub.answer(1, asking(3)), Order::work, 0, 1); // what came back comes first
    check_reply(hub.answer(1, asking(3, 1)), Order::work, 1, 1);
    check_reply(hub.answer(1, asking(3, 2)), Order::work, 2, 2);
}

TEST_CASE("when nobody is left, the last failure ends the call") {
    ShardHub hub(4, {}, 2);
    check_reply(hub.answer(0, asking(1)), Order::work, 0, 1);
    check_reply(hub.answer(1, asking(1)), Order::work, 1, 1);
    check_reply(hub.answer(0, failed(0, PERM_GPU_FAILED)), Order::leave);
    check_reply(hub.answer(1, failed(1, PERM_OUT_OF_MEMORY)), Order::leave);
    CHECK(hub.is_over());
    REQUIRE(hub.failure().has_value());
    CHECK(hub.failure()->status == PERM_OUT_OF_MEMORY);
    CHECK_FALSE(hub.is_complete());
}

TEST_CASE("another error ends it everywhere") {
    ShardHub hub(9, {}, 3);
    check_reply(hub.answer(0, asking(2)), Order::work, 0, 2);
    check_reply(hub.answer(1, asking(1)), Order::work, 2, 1);
    check_reply(hub.answer(1, failed(2, PERM_REFUSED_MEMORY)), Order::leave);
    check_reply(hub.answer(0, asking(0, 2)), Order::abort);
    check_reply(hub.answer(0, asking(2)), Order::leave);
    check_reply(hub.answer(2, asking(2)), Order::leave); // that comes late
    CHECK(hub.is_over());
    REQUIRE(hub.failure().has_value());
    CHECK(hub.failure()->status == PERM_REFUSED_MEMORY);
    CHECK(hub.failure()->text == "rank 1: a test's failure");
}

TEST_CASE("a stop lets running shards come to their end, or not even that") {
    ShardHub hub(9, {}, 2);
    check_reply(hub.answer(0, asking(2)), Order::work, 0, 2);
    check_reply(hub.answer(1, asking(2)), Order::work, 2, 2);
    Report report = asking(0, 2);
    report.cancel = 1; // rank 1's caller
    check_reply(hub.answer(1, report), Order::finish);
    check_reply(hub.answer(0, asking(0, 2)), Order::finish);
    check_reply(hub.answer(1, done(2, 2)), Order::leave);
    hub.stop({PERM_REFUSED_TIME, "later, and no reason any more"}, ShardHub::Running::abort);
    check_reply(hub.answer(0, asking(1, 1)), Order::abort);
    check_reply(hub.answer(0, asking(1)), Order::leave);
    CHECK(hub.is_over());
    REQUIRE(hub.failure().has_value());
    CHECK(hub.failure()->status == PERM_CANCELLED);
    CHECK(hub.partials().size() == 1);
}

TEST_CASE("every shard is run, whoever fails and in whatever order") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        const std::size_t ranks = 1 + below(6);
        const auto shards = static_cast<std::int64_t>(1 + below(60));
        ShardHub hub(shards, {}, static_cast<int>(ranks));
        std::vector<std::vector<std::int64_t>> has(ranks);
        std::vector<char> is_free(ranks, 1); // to report
        std::vector<char> has_left(ranks, 0);
        const auto take = [&](std::size_t rank, const Reply &reply) {
            is_free[rank] = 1;
            has_left[rank] = reply.order == Order::leave;
            for (std::int64_t k = 0; k < reply.count; ++k) has[rank].push_back(reply.first + k);
            if (reply.order == Order::abort) has[rank].clear();
        };
        for (int step = 0; step < 100000 && !hub.is_over(); ++step) {
            const std::size_t rank = below(ranks);
            if (is_free[rank] && !has_left[rank]) {
                Report report;
                const bool fails = rank > 0 && below(20) == 0; // rank 0 never does
                if (!has[rank].empty() && below(3) > 0) {
                    const std::int64_t shard = has[rank].front();
                    has[rank].erase(has[rank].begin());
                    report = fails ? failed(shard, PERM_GPU_FAILED) : done(shard);
                    if (fails) has[rank].clear();
                }
                report.busy = static_cast<std::int64_t>(has[rank].size());
                report.wanted = static_cast<std::int64_t>(below(4));
                if (report.busy == 0) ++report.wanted;
                is_free[rank] = 0;
                if (const auto reply = hub.answer(static_cast<int>(rank), report)) take(rank, *reply);
            }
            for (const auto &[waiting, reply] : hub.answer_waiting())
                take(static_cast<std::size_t>(waiting), reply);
        }
        CHECK(hub.is_over());
        CHECK(hub.is_complete());
        CHECK_FALSE(hub.failure().has_value());
    }
}

TEST_CASE(
    "a checkpoint with shards that the plan does not have") { // of more than it has it would wait for ever
    const TemporaryFolder folder;
    const std::string file = folder / "kept";
    const auto kept = [&] { return KeptPartials(file, 60); };
    KeptPartials begun = kept();
    begun.begin("task", libperm::Json{{"shards", 8}, {"n", 3}, {"nnz", 9}, {"method", "none"}});
    begun.write({{0, "part"}, {7, "part"}});
    CHECK(kept().task() == "task");
    CHECK(kept().take_partials().size() == 2);
    CHECK_NOTHROW(kept().require_of(8));
    CHECK_THROWS_WITH_AS(kept().require_of(7), doctest::Contains("remove this one and"), libperm::Error);
    kept().write({{-1, "part"}, {0, "part"}});
    CHECK_THROWS_AS(kept().require_of(8), libperm::Error);
}
