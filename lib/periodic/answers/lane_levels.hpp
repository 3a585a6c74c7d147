// The levels of an operator whose entries are all 1: where each sum takes from.
#pragma once

#include "lib/periodic/period/period_levels.hpp"
#include "preprocess/poll.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

struct LaneLevel {
    std::vector<std::uint32_t> first{0}, source;

    std::size_t states() const { return first.size() - 1; }
};
using LaneLevels = std::vector<LaneLevel>;

// Two levels are one where that has hardly more moves: each state between them costs as much as some.
LaneLevels lane_levels(const PeriodLevels &levels, const Poll &poll);

} // namespace libperm
