// What the sparse form and joins keep on a device.
#pragma once

#include "jit/kernel/frontier_sparse.hpp"
#include "jit/number/state_numbers.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/frontier/frontier.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// A list of states: keys, then numbers.
class DeviceList {
  public:
    DeviceList(DeviceQueue &queue, int words, const StateNumbers &numbers)
        : memory_(queue),
          key_bytes_(8 * static_cast<std::size_t>(words)),
          number_bytes_(static_cast<std::size_t>(number_bytes(numbers))) {}

    std::size_t size = 0;

    std::size_t key_bytes() const { return key_bytes_; }
    std::size_t number_bytes_each() const { return number_bytes_; }
    std::size_t item_bytes() const { return key_bytes_ + number_bytes_; }
    std::size_t bytes() const { return memory_.bytes(); }
    std::size_t capacity() const { return capacity_; }

    // A sixteenth more than asked, so that growing stays cheap. What was there is lost if it grows.
    void reserve(std::size_t count) {
        if (count > capacity_) allocate(count + count / 16);
    }
    void allocate(std::size_t count) {                              // just so many
        const std::size_t capacity = (count + 1) & ~std::size_t{1}; // numbers are aligned to 16
        capacity_ = 0;
        memory_.reserve(capacity * item_bytes());
        capacity_ = capacity;
    }
    SparseList where() const { return {memory_.address(), memory_.address() + capacity_ * key_bytes_}; }

  private:
    DeviceArray memory_;
    std::size_t key_bytes_, number_bytes_;
    std::size_t capacity_ = 0;
};

// The words that blocks of a launch share (jit/device/chained_tiles.cuh).
class DeviceChain {
  public:
    explicit DeviceChain(DeviceQueue &queue) : queue_(&queue), memory_(queue) {}

    TileChain next(std::size_t tiles) {
        if (tiles > tiles_ || launch_ == most_chained_launches) {
            tiles_ = std::max(tiles, 2 * tiles_);
            launch_ = 0;
            const std::vector<std::uint64_t> zeros(2 + tiles_);
            memory_.reserve(8 * zeros.size());
            queue_->copy_in(memory_.address(), zeros.data(), 8 * zeros.size());
        }
        return {++launch_, memory_.address(), memory_.address() + 8, memory_.address() + 16};
    }
    std::size_t bytes() const { return memory_.bytes(); }

  private:
    DeviceQueue *queue_;
    DeviceArray memory_;
    std::size_t tiles_ = 0;
    std::uint64_t launch_ = 0;
};

} // namespace libperm
