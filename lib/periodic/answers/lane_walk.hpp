// Terms modulo primes, as they are found; of operators whose entries are all 1 eight walks side by side, of
// several starts or primes (jit/lanes/residue_sums.hpp).
#pragma once

#include "jit/lanes/residue_sums.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "preprocess/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace libperm {

// By prime, by term. Gaussian integers have each prime twice (lib/number/residues.hpp).
using ResidueTerms = std::vector<std::vector<std::uint64_t>>;

// Is told the terms modulo each prime, by its number, once, by any thread.
using TellTerms = std::function<void(std::size_t, std::vector<std::uint64_t>)>;

// find(tell), all of it.
template <class Find> ResidueTerms told_terms(std::size_t primes, const Find &find) {
    ResidueTerms all(primes);
    find([&all](std::size_t k, std::vector<std::uint64_t> terms) { all[k] = std::move(terms); });
    return all;
}

// The levels of an operator whose entries are all 1: where each sum takes from.
struct LaneLevel {
    std::vector<std::uint32_t> first{0}, source;

    std::size_t states() const { return first.size() - 1; }
};
using LaneLevels = std::vector<LaneLevel>;

// Two levels are one where that has hardly more moves: each state between them costs as much as some.
LaneLevels lane_levels(const PeriodLevels &levels);

// Lanes walk where all entries are 1 and there is enough to do for them.
bool walks_in_lanes(const PeriodicPlan &plan, double primes);

// a(first), a(first + 1), ... The primes lie below 2^59 by less than most_below.
void find_in_lanes(const PeriodicPlan &plan, const std::vector<std::uint64_t> &primes, std::int64_t first,
                   std::int64_t count, const TellTerms &tell);

} // namespace libperm
