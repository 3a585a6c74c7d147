// Operators whose entries are all 1, modulo primes: eight walks side by side, of several starts or primes
// (jit/lanes/residue_sums.hpp).
#pragma once

#include "jit/lanes/residue_sums.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/told_terms.hpp"
#include "lib/periodic/period/period_writer.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// The levels of an operator whose entries are all 1: where each sum takes from.
struct LaneLevel {
    std::vector<std::uint32_t> first{0}, source;

    std::size_t states() const { return first.size() - 1; }
};
using LaneLevels = std::vector<LaneLevel>;

// Two levels are one where that has hardly more moves: each state between them costs as much as some.
LaneLevels lane_levels(const PeriodLevels &levels, const Poll &poll);

// Lanes walk where all entries are 1 and there is enough to do for them.
bool walks_in_lanes(const PeriodicPlan &plan, double primes);

// a(first), a(first + 1), ... The primes lie below 2^59 by less than most_below.
void find_in_lanes(const PeriodicPlan &plan, const std::vector<std::uint64_t> &primes, std::int64_t first,
                   std::int64_t count, RunControl &control, const TellTerms &tell);

} // namespace libperm
