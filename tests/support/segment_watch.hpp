// The segments' sums of an engine that runs on the host, looked at before each of its launches; doubles.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "tests/support/host_queue.hpp"

#include <cstdint>
#include <set>
#include <vector>

// While it lives it checks that every segment was summed before they are added up, that those are summed
// again which matter most and no others, and puts these in an order that follows from `shuffle`: a GPU's
// threads come in any.
class SegmentWatch {
  public:
    explicit SegmentWatch(HostQueue &queue, std::uint64_t shuffle = 0);
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
    void refines(libperm::DeviceAddress chosen_at, std::uint64_t count, std::uint64_t base);

    HostQueue &queue_;
    const std::uint64_t shuffle_;
    std::vector<libperm::Partial3> segments_, plain_;
    std::vector<std::uint64_t> chosen_;
    std::set<std::uint64_t> right_;       // what is to be summed again now
    libperm::DeviceAddress partials_ = 0; // where they were, and so many
    std::uint64_t count_ = 0;
};
