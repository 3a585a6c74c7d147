// A sum over subsets shared out among several devices, each played on the host, and the processor: the bits
// of one, also where some fail; and what is asked of devices that need not be opened.
#include "jit/driver/jit_error.hpp"
#include "jit/kernel/subset_source.hpp"
#include "tests/support/run.hpp"
#include "tests/support/segment_watch.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

constexpr int never = 1 << 30;

std::uint64_t test_seed() { return run::seed(0x646576); }

// Of many windows: segments are short.
Case many_windows(SubsetEngine engine, Random &random) {
    constexpr std::int64_t n = 18;
    perm::Csr a = families::erdos_renyi(n, 0.6, families::Entries::real, random.bits());
    const Pattern p = block_of(a).pattern;
    SubsetPlan plan;
    if (engine == SubsetEngine::tree) {
        TreePart root; // all columns but the last are looped over
        root.end = n - 1;
        plan = trees::plan_with(p, any_order(n, random).cols, root, 0);
    } else {
        plan = plan_subsets(engine, p, transpose(p).pattern, false);
        plan.kernel.threads = 8;
        plan.kernel.segment_bits = plan.kernel.unrolled = 0;
    }
    plan.tolerance = 1e-12;
    plan.most_refined = 0.25;
    return make_case(a, 0, plan);
}

// Two devices that compile for themselves, and of which one may fail.
class Devices {
  public:
    bool compiled(const std::vector<KernelRecipe> &kernels) {
        return std::ranges::all_of(queues_, [&](HostQueue &q) { return subset_cases::compiled(q, kernels); });
    }
    void last(int first_launches, int second_launches) {
        for (HostQueue &queue : queues_) queue.device.block_threads = 64;
        queues_[0].device.launches_left = first_launches;
        queues_[1].device.launches_left = second_launches;
    }
    DeviceQueues all() {
        return DeviceQueues([this] {
            ++opened;
            return std::vector<DeviceQueue *>{&queues_[0], &queues_[1]};
        });
    }
    HostQueue &operator[](std::size_t k) { return queues_[k]; }

    int opened = 0;

  private:
    HostQueue queues_[2];
};

} // namespace

TEST_CASE("two devices, of which one may fail, have the bits of one") {
    Random random(test_seed());
    std::vector<Case> cases;
    std::vector<KernelRecipe> kernels;
    for (const SubsetEngine engine : {SubsetEngine::tree, SubsetEngine::purereg, SubsetEngine::hybrid,
                                      SubsetEngine::shared, SubsetEngine::dense}) {
        cases.push_back(many_windows(engine, random));
        kernels.push_back(subsets_kernel(cases.back().plan.kernel));
    }
    Devices devices;
    if (!devices.compiled(kernels)) return;
    for (const Case &c : cases) {
        CAPTURE(c.name);
        REQUIRE(window_count(c.plan.kernel) == 8);
        Outcome one;
        {
            const SegmentWatch watch(devices[0], random.bits());
            one = run_on(devices[0], c.plan, c.block);
            CHECK(watch.segments().size() == std::size_t{1} << (c.plan.kernel.n - 1));
            CHECK(!watch.chosen().empty());
        }
        const int launches = devices[1].launches();
        devices.last(never, never);
        CHECK(same_bits(run_on(devices.all(), c.plan, c.block), one));
        CHECK(devices[1].launches() > launches);
        const int few = static_cast<int>(random.integer(1, 4));
        for (const auto &[first, second] : {std::pair{0, never}, {never, 0}, {few, never}, {never, few}}) {
            devices.last(first, second);
            CHECK(same_bits(run_on(devices.all(), c.plan, c.block), one));
        }
        devices.last(0, few);
        CHECK_THROWS_AS((void)run_on(devices.all(), c.plan, c.block), JitError);
        devices.last(never, never);
        if (c.plan.kernel.engine == SubsetEngine::tree) {
            for (const SubsetDevices &shared_by :
                 {SubsetDevices{{}, true}, SubsetDevices{devices.all(), true}})
                CHECK(same_bits(outcome_of(run_subset_sum(c.plan, c.block, shared_by)), one));
        }
        CHECK(devices[0].is_whole());
        CHECK(devices[1].is_whole());
    }
}

TEST_CASE("devices are opened, and kernels loaded, where there is work left to do") {
    Random random(test_seed() + 1);
    const Case c = many_windows(SubsetEngine::purereg, random);
    Devices devices;
    if (!devices.compiled({subsets_kernel(c.plan.kernel)})) return;
    CurrentCall whole;
    PieceStore store;
    CurrentCall control(1, PieceScope{&store, {}});
    const SubsetDevices both{devices.all(), false};
    const Outcome first = outcome_of(run_subset_sum(c.plan, c.block, both));
    CHECK(devices.opened == 1);
    const int launches = devices[0].launches() + devices[1].launches();
    CHECK(same_bits(outcome_of(run_subset_sum(c.plan, c.block, both)), first));
    CHECK(devices.opened == 1);
    CHECK(devices[0].launches() + devices[1].launches() == launches);
}

TEST_CASE("what a run takes of the devices' memory is told") {
    Random random(test_seed() + 2);
    for (const SubsetEngine engine : {SubsetEngine::hybrid, SubsetEngine::purereg}) {
        Case c = many_windows(engine, random);
        HostQueue queue;
        if (!compiled(queue, std::vector{c})) return;
        const std::int64_t before = queue.free_bytes();
        std::int64_t least = before;
        queue.before_launch = [&](const HostLaunch &) { least = std::min(least, queue.free_bytes()); };
        const Outcome outcome = run_on(queue, c.plan, c.block);
        CHECK(queue.free_bytes() == before); // all is given back
        // All but the values and the pattern.
        const SubsetKernel &kernel = c.plan.kernel;
        const auto rest = static_cast<std::int64_t>(value_count(kernel) * 8) +
                          4 * (kernel.n + 1 + static_cast<std::int64_t>(kernel.row.size()));
        CHECK(outcome.counts.peak_bytes == before - least - rest);
        const std::int64_t all = 24 << (kernel.n - 1); // segments' sums, of which two batches are there
        CHECK(outcome.counts.peak_bytes < all);

        HostQueue tight(before - least - 1);
        CHECK_THROWS_AS((void)run_on(tight, c.plan, c.block), JitError);
    }
}
