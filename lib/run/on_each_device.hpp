// What an engine has on each of the devices that share a run's pieces: made when the device is first asked
// for some, so that none is opened where nothing is left to do.
#pragma once

#include "jit/queue/device_queues.hpp"
#include "lib/base/work_sharing.hpp"
#include "lib/run/placement.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

template <class OnDevice> class OnEachDevice {
  public:
    using Make = std::function<std::unique_ptr<OnDevice>(DeviceQueue &)>;
    OnEachDevice(const DeviceQueues &queues, Make make) : queues_(queues), make_(std::move(make)) {}

    // most(device): of the pieces that it takes at once; run(device, pieces).
    template <class Most, class Run>
    void share(std::span<const std::uint64_t> todo, const Most &most, const Run &run) {
        devices_.resize(queues_.count());
        share_out(todo, devices_.size(),
                  {[&](std::size_t d) { return most(device(d)); },
                   [&](std::size_t d, std::span<const std::uint64_t> pieces) { run(device(d), pieces); },
                   [&](std::size_t, const std::exception_ptr &error) {
                       return is_of_its_device(error, devices_.size() == 1);
                   }});
    }

    std::size_t count() const { return queues_.count(); }
    std::int64_t peak_bytes() const {
        std::int64_t bytes = 0;
        for (const auto &device : devices_) bytes += device ? device->peak_bytes() : 0;
        return bytes;
    }

  private:
    OnDevice &device(std::size_t d) {
        if (!devices_[d]) devices_[d] = make_(queues_[d]);
        return *devices_[d];
    }

    const DeviceQueues &queues_;
    const Make make_;
    std::vector<std::unique_ptr<OnDevice>> devices_;
};

} // namespace libperm
