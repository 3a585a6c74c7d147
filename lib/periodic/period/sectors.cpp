#include "lib/periodic/period/sectors.hpp"

#include <bit>

namespace libperm {
namespace {

bool odd(std::uint32_t bits) { return std::popcount(bits) % 2 != 0; }

// Of each state the first of its orbit and the maps that lead from there, a bit for each; of each first state
// products of maps under which it stays.
struct SectorOrbits {
    std::vector<std::uint32_t> first, maps;
    std::vector<std::vector<std::uint32_t>> stays;

    explicit SectorOrbits(const PeriodBlock &block)
        : first(block.states, Sector::none), maps(block.states, 0), stays(block.states) {
        std::vector<std::uint32_t> reached;
        for (std::uint32_t s = 0; s < block.states; ++s) {
            if (first[s] != Sector::none) continue;
            first[s] = s;
            reached.assign(1, s);
            for (std::size_t k = 0; k < reached.size(); ++k)
                for (std::uint32_t m = 0; m < block.symmetries.image.size(); ++m) {
                    const std::uint32_t to = block.symmetries.image[m][reached[k]],
                                        by = maps[reached[k]] ^ (1U << m);
                    if (first[to] == Sector::none) {
                        first[to] = s;
                        maps[to] = by;
                        reached.push_back(to);
                    } else if (maps[to] != by) {
                        stays[s].push_back(maps[to] ^ by);
                    }
                }
        }
    }
};

} // namespace

std::vector<Sector> sectors_of(const PeriodBlock &block) {
    const SectorOrbits orbits(block);
    std::vector<Sector> out(sectors_in(block));
    for (std::uint32_t signs = 0; signs < out.size(); ++signs) {
        Sector &sector = out[signs];
        sector.next = signs;
        for (std::uint32_t m = 0; m < block.symmetries.twist.size(); ++m)
            if (odd(signs & block.symmetries.twist[m])) sector.next ^= std::size_t{1} << m;
        sector.orbit.assign(block.states, Sector::none);
        sector.negative.assign(block.states, false);
        for (std::uint32_t s = 0; s < block.states; ++s) {
            const std::uint32_t first = orbits.first[s];
            if (first == s) {
                bool is_there = true;
                for (const std::uint32_t maps : orbits.stays[s]) is_there = is_there && !odd(signs & maps);
                if (!is_there) continue;
                sector.orbit[s] = static_cast<std::uint32_t>(sector.start.size());
                sector.start.push_back(s);
            } else {
                sector.orbit[s] = sector.orbit[first];
                sector.negative[s] = odd(signs & orbits.maps[s]);
            }
        }
    }
    return out;
}

double sector_products(const PeriodBlock &block) {
    // About as many orbits in each, but for those whose states stay under some maps.
    const auto n = static_cast<double>(block.states), sectors = static_cast<double>(sectors_in(block));
    return n * n * n / (sectors * sectors);
}

} // namespace libperm
