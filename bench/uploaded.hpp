// Lists on a device, for kernels that are measured or tested alone.
#pragma once

#include "jit/queue/device_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

template <class T> libperm::DeviceArray uploaded(libperm::DeviceQueue &queue, const std::vector<T> &list) {
    libperm::DeviceArray array(queue);
    array.reserve(std::max<std::size_t>(list.size(), 1) * sizeof(T));
    queue.copy_in(array.address(), list.data(), list.size() * sizeof(T));
    return array;
}
