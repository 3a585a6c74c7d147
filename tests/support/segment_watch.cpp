#include "tests/support/segment_watch.hpp"

#include "bench/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace libperm;

SegmentWatch::SegmentWatch(HostQueue &queue, std::uint64_t shuffle) : queue_(queue), shuffle_(shuffle) {
    queue.before_launch = [this](const HostLaunch &launch) {
        if (launch.entry == gray_entry) begins(launch);
        if (launch.entry == gather_entry) adds_up(launch);
        if (launch.entry == select_entry) selects(launch);
        if (launch.entry == accurate_entry)
            refines(launch.argument<DeviceAddress>(3), launch.blocks, launch.argument<std::uint64_t>(4));
        if (launch.entry == refined_entry) {
            const auto chunks = launch.argument<SubsetLaunch>(1);
            if (chunks.chosen == 0) return begins(launch); // all of them
            CHECK(chunks.length == 1);
            refines(chunks.chosen + chunks.first * sizeof(std::uint64_t), chunks.end - chunks.first,
                    chunks.base);
        }
    };
}

SegmentWatch::~SegmentWatch() {
    CHECK(right_.empty());
    queue_.before_launch = nullptr;
}

// Where others stood before, what is not summed is to be noticed.
void SegmentWatch::begins(const HostLaunch &launch) {
    CHECK(right_.empty());
    const auto chunks = launch.argument<SubsetLaunch>(1);
    if (chunks.first != chunks.base || launch.argument<DeviceAddress>(3) != partials_) return;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::ranges::fill(queue_.on_device<Partial3>(partials_, count_), Partial3{{nan, nan}, nan});
}

void SegmentWatch::adds_up(const HostLaunch &launch) {
    CHECK(right_.empty());
    partials_ = launch.argument<DeviceAddress>(0);
    const auto count = launch.argument<std::uint64_t>(1);
    count_ = std::max(count_, count);
    const auto partials = queue_.on_device<Partial3>(partials_, count);
    for (std::size_t k = 0; k < count; ++k)
        if (std::isnan(partials[k].sum.sum)) FAIL_CHECK("partial " << k << " of " << count);
    segments_.insert(segments_.end(), partials.begin(), partials.end());
    if (plain_.size() < segments_.size()) plain_.insert(plain_.end(), partials.begin(), partials.end());
}

// What it is to find, by the processor's functions.
void SegmentWatch::selects(const HostLaunch &launch) {
    const auto count = launch.argument<std::uint64_t>(1);
    const auto most = launch.argument<double>(2);
    const auto partials = queue_.on_device<Partial3>(launch.argument<DeviceAddress>(0), count);
    plain_.insert(plain_.end(), partials.begin(), partials.end());
    const auto window = launch.argument<std::uint64_t>(3);
    const auto hopeless =
        queue_.on_device<int>(launch.argument<DeviceAddress>(4), (count + window - 1) / window);
    for (std::uint64_t k = 0; k < count; ++k)
        if (partials[k].absolute > most && hopeless[k / window] == 0) right_.insert(k);
}

// All of those that are to be, maybe in several launches; the first is given them in another order.
void SegmentWatch::refines(DeviceAddress chosen_at, std::uint64_t count, std::uint64_t base) {
    const std::uint64_t left = right_.size();
    REQUIRE(count <= left);
    const std::span<std::uint64_t> chosen = queue_.on_device<std::uint64_t>(chosen_at, left);
    if (shuffle_ > 0) {
        perm::families::Random random(shuffle_);
        const std::vector<std::uint64_t> before(chosen.begin(), chosen.end());
        const auto order = random.permutation(static_cast<std::int64_t>(before.size()));
        for (std::size_t k = 0; k < before.size(); ++k)
            chosen[k] = before[static_cast<std::size_t>(order[k])];
    }
    for (const std::uint64_t segment : chosen.first(count)) {
        CHECK(right_.erase(segment) == 1);
        chosen_.push_back(base + segment);
    }
}
