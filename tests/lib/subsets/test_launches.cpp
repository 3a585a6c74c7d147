// How segments are shared out among launches and threads, and how many threads a device is given.
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/subset_source.hpp"
#include "lib/subsets/kernel_on_device.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b726e); }

SubsetPlan planned(SubsetEngine engine, std::int64_t n, std::int32_t threads) {
    const Pattern p = block_of(families::banded(n, 2, 2, families::Entries::ones, 1)).pattern;
    SubsetPlan plan = plan_subsets(engine, p, transpose(p).pattern, false);
    plan.kernel.threads = threads;
    return plan;
}

} // namespace

TEST_CASE("launches: every segment once, powers of two as long as all threads have one") {
    Random random(test_seed() + 4);
    for (int trial = 0; trial < run::cases(3000); ++trial) {
        CAPTURE(trial);
        const bool large = trial % 3 == 0;
        const std::uint64_t first =
            random.bits() >> (large ? random.integer(13, 63) : random.integer(50, 63));
        const std::uint64_t segments =
            trial % 7 == 0 ? std::uint64_t{1} << random.integer(0, large ? 50 : 14)
                           : random.bits() >> (large ? random.integer(13, 30) : random.integer(50, 63));
        const std::uint64_t threads =
            at(random.chance(0.5) ? random.integer(1, 40) : random.integer(1, 400000));
        const std::uint64_t longest = large ? std::uint64_t{1} << 40 : at(random.integer(1, 70));
        const std::uint64_t end = first + segments;
        const auto launches = launch_parameters(first, end, threads, longest);
        std::uint64_t next = first;
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const SubsetLaunch &launch = launches[i];
            const bool last = i + 1 == launches.size();
            const std::uint64_t left = end - launch.first,
                                chunks = (launch.end - launch.first) / launch.length;
            bool good = launch.first == next && launch.end > launch.first && launch.end <= end &&
                        launch.base == first;
            good = good && std::has_single_bit(launch.length) && launch.length <= longest;
            good = good && chunks * launch.length == launch.end - launch.first; // none is shorter
            good = good && (last ? chunks <= threads : chunks == threads);
            // As long as can be.
            good = good && (2 * launch.length > longest || 2 * launch.length > left / threads);
            if (!good) {
                CAPTURE(i);
                FAIL_CHECK("first " << launch.first << " end " << launch.end << " length " << launch.length);
                break;
            }
            next = launch.end;
        }
        CHECK(next == end);
    }
    CHECK(launch_parameters(5, 5, 3, 8).empty());
}

TEST_CASE("launches in waves: every segment once, in chunks of a power of two, short but not too short") {
    Random random(test_seed() + 5);
    for (int trial = 0; trial < run::cases(3000); ++trial) {
        CAPTURE(trial);
        const std::uint64_t first = random.bits() >> random.integer(13, 63);
        const std::uint64_t end = first + (random.bits() >> random.integer(13, 63));
        const std::uint64_t threads = at(random.integer(1, 40000)), least = at(random.integer(1, 70));
        const std::uint64_t most = 1 + (end - first) / at(random.integer(1, 20));
        std::uint64_t next = first;
        for (const SubsetLaunch &launch : launches_in_waves(first, end, threads, most, least)) {
            const std::uint64_t segments = launch.end - launch.first, each = segments / threads;
            bool good = launch.first == next && segments > 0 && launch.base == first && segments <= most;
            good = good && (segments == most || launch.end == end) && std::has_single_bit(launch.length);
            // A chunk for every thread, if there are so many segments, and of at least so many or as many as
            // can be.
            good = good && launch.length <= std::max<std::uint64_t>(each, 1);
            good = good && (launch.length >= least || 2 * launch.length > each);
            // No longer than it must be: many chunks for every thread otherwise.
            good = good && (launch.length < 2 * least || launch.length * waves <= each);
            if (!good) {
                FAIL_CHECK("first " << launch.first << " end " << launch.end << " length " << launch.length);
                break;
            }
            next = launch.end;
        }
        CHECK(next == end);
    }
    CHECK(launches_in_waves(5, 5, 3, 8, 1).empty());
}

TEST_CASE("the widest shape: as many threads as the device holds at once, of those that a block can have") {
    HostQueue queue;
    const SubsetPlan shared = planned(SubsetEngine::shared, 20, 256),
                     fixed = planned(SubsetEngine::purereg, 20, 128);
    if (!compiled(queue, {subsets_kernel(shared.kernel), subsets_kernel(fixed.kernel)})) return;
    queue.load(subsets_kernel(shared.kernel));
    queue.device.warp = 32;
    const auto most_shared = [](const SubsetPlan &plan, int threads) {
        return shared_bytes(plan.kernel, threads);
    };
    Random random(test_seed() + 12);
    std::set<unsigned> chosen;
    for (int trial = 0; trial < 100; ++trial) {
        // Bytes, threads and blocks of a multiprocessor, and how many there are of these.
        const auto bytes = at(random.integer(20000, 200000)), threads = at(random.integer(64, 1024)),
                   blocks = at(random.integer(1, 16)), count = at(random.integer(1, 20));
        queue.device.shared_bytes = at(random.integer(16000, 65000));
        queue.device.blocks = [=](unsigned of_block, std::size_t shared_of_block) {
            return static_cast<unsigned>(
                count *
                std::min({blocks, threads / of_block, bytes / std::max<std::size_t>(shared_of_block, 1)}));
        };
        const LaunchShape shape = widest_shape(shared.kernel, queue);
        CHECK(shape.threads % 32 == 0);
        CHECK(shape.shared == most_shared(shared, static_cast<int>(shape.threads)));
        CHECK(shape.shared <= queue.device.shared_bytes);
        CHECK(shape.blocks == queue.device.blocks(shape.threads, shape.shared));
        for (int other = 32; other <= 256; other += 32) {
            const std::size_t of_block = most_shared(shared, other);
            if (of_block > queue.device.shared_bytes) break;
            const std::uint64_t all = queue.device.blocks(static_cast<unsigned>(other), of_block) *
                                      static_cast<std::uint64_t>(other);
            CHECK(all <= shape.all());
        }
        chosen.insert(shape.threads);
    }
    CHECK(chosen.size() > 3);

    queue.device.blocks = [](unsigned of_block, std::size_t) { return of_block == 128 ? 5U : 1000U; };
    queue.load(subsets_kernel(fixed.kernel));
    const LaunchShape shape = widest_shape(fixed.kernel, queue);
    CHECK(shape.threads == 128);
    CHECK(shape.blocks == 5);
    CHECK(shape.shared == 0);
}

TEST_CASE("a device on which no block fits, and one whose limits are passed, say so") {
    HostQueue queue;
    const SubsetPlan plan = planned(SubsetEngine::shared, 20, 256);
    if (!compiled(queue, std::vector{subsets_kernel(plan.kernel)})) return;
    queue.device.warp = 32;
    queue.device.blocks = [](unsigned, std::size_t) { return 0U; };
    CHECK_THROWS_AS((void)widest_shape(plan.kernel, queue), JitError);
    queue.device = {};
    queue.device.warp = 32;
    queue.device.shared_bytes = 5000; // a warp needs more
    REQUIRE(shared_bytes(plan.kernel, 32) > queue.device.shared_bytes);
    CHECK_THROWS_WITH_AS((void)widest_shape(plan.kernel, queue),
                         "no block of engine shared fits a multiprocessor of the host", JitError);

    queue.device = {};
    std::uint64_t none = 0;
    const std::array<void *, 5> arguments{&none, &none, &none, &none, &none};
    CHECK_THROWS_AS(queue.launch(gather_entry, 0, 1, arguments, 0), JitError);
    CHECK_THROWS_AS(queue.launch(gather_entry, 1, 0, arguments, 0), JitError);
    CHECK_THROWS_AS(queue.launch(gather_entry, 1, 1025, arguments, 0), JitError);
    CHECK_THROWS_AS(queue.launch(gray_entry, 1, 257, arguments, 0), JitError);
    CHECK_THROWS_AS(queue.launch(gather_entry, 1, 1, arguments, 50000), JitError); // not allowed it
    CHECK_THROWS_AS(queue.allow_shared(gray_entry, HostKernel::most_shared + 1), JitError);
    CHECK_NOTHROW(queue.launch(gather_entry, 1, 1, arguments, 0)); // of no partial sums
    CHECK(queue.launches() == 1);
}
