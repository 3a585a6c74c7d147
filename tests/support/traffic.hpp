// What a straight-line program would move to and from memory on a machine of few registers.
#pragma once

#include "jit/program/straight_line.hpp"

namespace libperm {

// What a machine with so many registers beside the inputs must do more, when a value is written out on its
// first eviction and the one is evicted whose next use is furthest (Belady); sums with a constant are done
// again instead.
struct Traffic {
    std::int32_t loads = 0, stores = 0, repeated = 0;
};
Traffic traffic_of(const StraightLine &program, std::int32_t registers);

} // namespace libperm
