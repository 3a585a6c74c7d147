// What products are timed on: the machine's first GPU. The tests link one that is played on the host.
#pragma once

#include "jit/queue/device_queue.hpp"

#include <memory>

namespace bench {

struct Device {
    std::shared_ptr<libperm::DeviceQueue> queue;
    bool is_gpu; // else cuSPARSE has nothing to do with its addresses
};
Device open_device(); // throws std::runtime_error where there is none

} // namespace bench
