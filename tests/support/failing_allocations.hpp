// Allocations that fail, for one program: the k-th of those that are made while it is asked for, or all from
// there on.
#pragma once

#include <cstdint>

namespace failing {

void arm(std::int64_t k); // -1: none fails
std::int64_t disarm();    // how many allocations were asked for meanwhile

// Those of all threads while `work` runs count, and no others.
void count(bool counts);
template <class Work> auto within(const Work &work) {
    count(true);
    const auto result = work();
    count(false);
    return result;
}

// Blocks that are allocated and not freed yet; none are counted where a sanitizer has malloc.
std::int64_t blocks();

} // namespace failing
