// The devices that share a run's work.
#pragma once

#include "jit/queue/device_queue.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace libperm {

// A queue for each. The first call opens them: they are asked for where there is work left to do.
struct DeviceQueues {
    std::function<std::vector<DeviceQueue *>()> all; // one at least
    DeviceQueues(DeviceQueue &one) : all([&one] { return std::vector{&one}; }) {}
    explicit DeviceQueues(std::function<std::vector<DeviceQueue *>()> open) : all(std::move(open)) {}
    std::size_t count() const { return all().size(); }
    DeviceQueue &operator[](std::size_t k) const { return *all()[k]; }
};

} // namespace libperm
