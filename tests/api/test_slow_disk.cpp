// A disk that takes its time to keep a checkpoint: the work has half of the time at least.
#include "tests/support/check.hpp"
#include "tests/support/checkpointed.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Sync {
    Clock::time_point begin, end;
};
std::vector<Sync> syncs; // one after the other: a checkpoint's writes are

} // namespace

// The library's, too: this program's comes first.
extern "C" __attribute__((visibility("default"))) int fsync(int) {
    using namespace std::chrono_literals;
    const Clock::time_point begin = Clock::now();
    std::this_thread::sleep_for(20ms);
    syncs.push_back({begin, Clock::now()});
    return 0;
}

TEST_CASE("no checkpoint is written sooner than in the time that the last one took") {
    constexpr std::size_t of_a_write = 2; // the file's and the folder's
    for (int n = 22; n <= 32; ++n) {
        const MemoryFolder folder;
        const std::string file = folder / "kept";
        LargeCase c = checkpointed_case("ryser " + std::to_string(n), run::seed(9410));
        perm::Result truth = perm::compute(c.csr, c.opts), result;
        c.opts.threads = 1;
        c.opts.checkpoint = file.c_str();
        c.opts.checkpoint_seconds = 1e-6;
        syncs.clear();
        result = perm::compute(c.csr, c.opts);
        check_same_answer(*truth.raw(), *result.raw());
        REQUIRE(syncs.size() % of_a_write == 0);
        // Neither that before the work nor that of the answer waits for another.
        const std::size_t writes = syncs.size() / of_a_write;
        if (writes < 6) continue; // too little work for this machine
        for (std::size_t k = 1; k + 2 < writes; ++k) {
            const Sync &first = syncs[of_a_write * k], &last = syncs[of_a_write * k + 1];
            CHECK(syncs[of_a_write * (k + 1)].begin - last.end >= last.end - first.begin);
        }
        return;
    }
    FAIL("nothing was compared");
}
