// The call that a thread works for: found wherever its work goes, and that of before where its scope ends.
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/run/call.hpp"
#include "preprocess/parallel.hpp"
#include "tests/support/polled.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

using namespace libperm;

namespace {

// How many of the threads' pieces found this call.
std::uint64_t found_in_parallel(const Call &mine, std::uint64_t pieces) {
    std::atomic<std::uint64_t> found = 0;
    parallel_for(pieces, [&](std::uint64_t) { found += &call() == &mine ? 1 : 0; });
    return found;
}

} // namespace

TEST_CASE("call: each thread that works for it finds it, and none beside") {
    Call &nobodys = call();
    {
        CurrentCall mine;
        CHECK(&call() == &*mine);
        with_threads(2, [&] { CHECK(found_in_parallel(*mine, 1000) == 1000); });
        std::thread([&] { CHECK(&call() == &nobodys); }).join();
        std::vector<std::uint64_t> todo(64);
        std::iota(todo.begin(), todo.end(), 0);
        std::atomic<std::uint64_t> shared = 0;
        share_out(todo, 3,
                  {[](std::size_t) { return 1; },
                   [&](std::size_t, std::span<const std::uint64_t> some) {
                       if (&call() == &*mine) shared += some.size();
                   },
                   [](std::size_t, const std::exception_ptr &) { return false; }});
        CHECK(shared == todo.size());
        {
            CurrentCall part(0);
            CHECK(&call() == &*part);
            with_threads(2, [&] { CHECK(found_in_parallel(*part, 1000) == 1000); });
            CHECK(&call().memory() == &mine->memory());
        }
        CHECK(&call() == &*mine);
        try {
            const CurrentCall other(1, PieceScope{});
            throw Error(PERM_CANCELLED, "enough");
        } catch (const Error &) {
            CHECK(&call() == &*mine);
        }
    }
    CHECK(&call() == &nobodys);
    poll(); // nobody stops it
}

TEST_CASE("call: two at the same time, on two threads, each with its own") {
    std::atomic<std::uint64_t> found = 0;
    const auto work = [&] {
        for (int k = 0; k < 50; ++k) {
            CurrentCall mine;
            with_threads(2, [&] { found += found_in_parallel(*mine, 20); });
        }
    };
    std::thread one(work), other(work);
    one.join();
    other.join();
    CHECK(found == 2 * 50 * 20);
}

TEST_CASE("call: its parts count in its units, its memory is theirs unless they have their own") {
    CurrentCall mine;
    call().begin(10, 1);
    {
        const CurrentCall half(0.5);
        call().advance(4);
        CHECK(mine->fraction() == 0.2);
        uncounted([] { call().advance(100); });
        CHECK(mine->fraction() == 0.2);
        const CurrentCall own(1, Call::OwnMemory());
        CHECK(&call().memory() != &mine->memory());
    }
    call().advance(3);
    CHECK(mine->fraction() == 0.5);
}

TEST_CASE("call: polls stop it, whoever asks, and what its caller does meanwhile is no part of it") {
    CallWatch watch;
    watch.cancel = [](void *) { return 1; };
    const CurrentCall mine(watch);
    CHECK_THROWS_AS(poll(), Error);
    std::atomic<int> stopped = 0;
    with_threads(2, [&] {
        parallel_for(4, [&](std::uint64_t) {
            try {
                poll();
            } catch (const Error &error) {
                stopped += error.status() == PERM_CANCELLED ? 1 : 0;
            }
        });
    });
    CHECK(stopped == 4);
    int asked = 0;
    {
        const PolledBy counted([&asked] { ++asked; });
        PolledSteps steps;
        for (int k = 0; k < 3; ++k) steps.take(PolledSteps::between);
        CHECK(asked == 3);
    }
    CHECK_THROWS_AS(poll(), Error);
}

TEST_CASE("call: nothing is told behind its answer, and what its caller does when told is no part of it") {
    struct Seen {
        int told = 0, own = 0;
    } seen;
    CallWatch watch;
    watch.progress_user = &seen;
    watch.progress = [](double, double, void *user) {
        Seen &so_far = *static_cast<Seen *>(user);
        ++so_far.told;
        so_far.own += polled_here() == nullptr ? 1 : 0;
    };
    const CurrentCall mine(watch);
    call().begin(1, 1);
    poll();
    call().finish();
    const int told = seen.told;
    CHECK(told > 1);
    CHECK(seen.own == told);
    std::this_thread::sleep_for(std::chrono::milliseconds(150)); // the next would be due
    poll();
    CHECK(seen.told == told);
    CHECK(polled_here() != nullptr);
}
