// The segments' sums of an engine that runs on the host, looked at before each of its launches; doubles.
#pragma once

#include "lib/subsets/plan.hpp"
#include "tests/support/host_queue.hpp"

#include <cstdint>
#include <vector>

// While it lives it checks that every segment was summed before they are added up, that those are summed
// again which matter most and no others, and puts these in an order that follows from `shuffle`: a GPU's
// threads come in any.
class SegmentWatch {
  public:
    SegmentWatch(HostQueue &queue, const libperm::SubsetPlan &plan, std::uint64_t shuffle = 0);
    ~SegmentWatch(); // after the run's end
    SegmentWatch(const SegmentWatch &) = delete;
    SegmentWatch &operator=(const SegmentWatch &) = delete;

    // Of all windows, one after the other.
    const std::vector<libperm::Partial3> &segments() const { return segments_; }
    // As they were before some were summed again; and which.
    const std::vector<libperm::Partial3> &plain_segments() const { return plain_; }
    const std::vector<std::uint64_t> &chosen() const { return chosen_; }

  private:
    void begins(const HostLaunch &launch);
    void adds_up(const HostLaunch &launch);
    void selects(const HostLaunch &launch);
    void sums_again(const HostLaunch &launch);

    HostQueue &queue_;
    const libperm::SubsetPlan &plan_;
    const std::uint64_t shuffle_;
    std::vector<libperm::Partial3> segments_, plain_;
    std::vector<std::uint64_t> chosen_, right_; // right_: what is to be summed again now
    bool again_ = false;
    libperm::DeviceAddress partials_ = 0; // where they were, and so many
    std::uint64_t count_ = 0;
};
