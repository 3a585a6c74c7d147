// The numbers of a block's states, split by its symmetries (docs/periodic.md).
//
// Commuting maps of order two are diagonal together: by a sign for each there is a space of vectors that
// every map multiplies with its sign. An orbit of states has one dimension in it, where no map that leaves
// its states as they are has the sign -1. T leads from the sector of the signs s to that of signs s', s'_D =
// s_D times the sign of what T D = (...) D T has before D.
#pragma once

#include "lib/periodic/period/period_levels.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace libperm {

struct Sector {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::vector<std::uint32_t> start; // a state of each orbit
    std::vector<std::uint32_t> orbit; // of each state, or none
    std::vector<bool> negative;       // of each state: against its orbit's start
    std::size_t next = 0;             // where T leads, and from there back

    std::size_t size() const { return start.size(); }
};

// The first has the sign 1 alone: its operator is the sums over orbits, and of T >= 0 nowhere below what the
// others' are in absolute value.
std::vector<Sector> sectors_of(const PeriodBlock &block);

inline std::size_t sectors_in(const PeriodBlock &block) {
    return std::size_t{1} << block.symmetries.image.size();
}

// What one thread takes to multiply all sectors with themselves: the sum of their sizes' third powers.
double sector_products(const PeriodBlock &block);

// work(s, times) for the sectors that T^m leads back to and that have states, for one of a pair, which counts
// twice.
template <class Work>
void for_each_trace(const std::vector<Sector> &sectors, std::int64_t m, const Work &work) {
    for (std::size_t s = 0; s < sectors.size(); ++s) {
        const std::size_t next = sectors[s].next;
        if (sectors[s].size() == 0 || sectors[next].size() == 0 || next < s || (next != s && m % 2 != 0))
            continue;
        work(s, std::uint32_t{next == s ? 1u : 2u});
    }
}

} // namespace libperm
