// What a file's content may take in memory: the size of one that is compressed does not tell it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace perm {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

class FileRoom {
  public:
    FileRoom(std::string name, std::int64_t bytes) : name_(std::move(name)), bytes_(bytes) {}

    // Before they are allocated, with those that are needed for a moment only. Throws Error.
    void take(std::size_t bytes, std::size_t for_a_moment = 0);

    // For one more element.
    template <class T> void grow(std::vector<T> &elements) {
        if (elements.size() < elements.capacity()) return;
        const std::size_t more = std::max<std::size_t>(elements.capacity(), 16);
        take(more * sizeof(T), elements.capacity() * sizeof(T)); // both are there while one is moved
        elements.reserve(elements.capacity() + more);
    }

  private:
    std::string name_; // of the file
    std::int64_t bytes_, taken_ = 0;
};

} // namespace perm
