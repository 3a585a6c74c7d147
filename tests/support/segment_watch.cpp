#include "tests/support/segment_watch.hpp"

#include "bench/families.hpp"
#include "lib/subsets/segment_sum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace libperm;

SegmentWatch::SegmentWatch(HostQueue &queue, const SubsetPlan &plan, std::uint64_t shuffle)
    : queue_(queue), plan_(plan), shuffle_(shuffle) {
    queue.before_launch = [this](const HostLaunch &launch) {
        if (launch.entry == gray_entry) begins(launch);
        if (launch.entry == gather_entry) adds_up(launch);
        if (launch.entry == select_entry) selects(launch);
        if (launch.entry == accurate_entry) sums_again(launch);
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
    if (again_)
        segments_.resize(segments_.size() - count);
    else
        plain_.insert(plain_.end(), partials.begin(), partials.end());
    segments_.insert(segments_.end(), partials.begin(), partials.end());
    again_ = false;
}

// What it is to find, by the processor's functions.
void SegmentWatch::selects(const HostLaunch &launch) {
    const auto count = launch.argument<std::uint64_t>(1), room = launch.argument<std::uint64_t>(5);
    const std::uint64_t window = std::uint64_t{1} << launch.argument<int>(3);
    const auto partials = queue_.on_device<Partial3>(launch.argument<DeviceAddress>(0), count);
    CHECK(window == window_segments(plan_.kernel));
    for (std::uint64_t first = 0; first < count; first += window) {
        const std::span<const Partial3> of_window = partials.subspan(first, window);
        const double most =
            most_of_window(sum_of_window(number::Real<double>(), of_window).absolute, window, plan_.rare);
        for (std::uint64_t k = 0; k < window; ++k)
            if (of_window[k].absolute > most) right_.push_back(first + k);
    }
    CHECK(right_.size() <= room); // Markov's inequality
}

void SegmentWatch::sums_again(const HostLaunch &launch) {
    const std::span<std::uint64_t> chosen =
        queue_.on_device<std::uint64_t>(launch.argument<DeviceAddress>(3), launch.blocks);
    const auto base = launch.argument<std::uint64_t>(4);
    std::vector<std::uint64_t> sorted(chosen.begin(), chosen.end());
    std::ranges::sort(sorted);
    CHECK(sorted == right_);
    for (const std::uint64_t segment : sorted) chosen_.push_back(base + segment);
    if (shuffle_ > 0) {
        perm::families::Random random(shuffle_);
        const std::vector<std::uint64_t> before(chosen.begin(), chosen.end());
        const auto order = random.permutation(static_cast<std::int64_t>(before.size()));
        for (std::size_t k = 0; k < before.size(); ++k)
            chosen[k] = before[static_cast<std::size_t>(order[k])];
    }
    right_.clear();
    again_ = true;
}
