#include "lib/periodic/period/period_walk.hpp"

namespace libperm {
namespace {

LaneLevel lane_level(const PeriodLevel &level) {
    LaneLevel out{level.first, {}};
    out.source.reserve(level.moves.size());
    for (const TapeMove &move : level.moves) out.source.push_back(move.source);
    return out;
}

// Makes one level of two: it leads from the states before the first to those behind the second.
LaneLevel product(const LaneLevel &first, const LaneLevel &second) {
    LaneLevel out;
    for (std::size_t t = 0; t < second.states(); ++t) {
        for (std::uint32_t m = second.first[t]; m < second.first[t + 1]; ++m)
            out.source.insert(out.source.end(), first.source.begin() + first.first[second.source[m]],
                              first.source.begin() + first.first[second.source[m] + 1]);
        std::sort(out.source.begin() + out.first.back(), out.source.end());
        out.first.push_back(static_cast<std::uint32_t>(out.source.size()));
    }
    return out;
}

} // namespace

LaneLevels lane_levels(const PeriodLevels &levels) {
    constexpr std::size_t of_state = 1, most_moves = std::size_t{1} << 31;
    LaneLevels out;
    for (const PeriodLevel &level : levels) {
        poll();
        LaneLevel next = lane_level(level);
        if (!out.empty()) {
            const LaneLevel &before = out.back();
            std::size_t together = 0;
            for (const std::uint32_t s : next.source) together += before.first[s + 1] - before.first[s];
            if (together < most_moves &&
                together <= before.source.size() + next.source.size() + of_state * before.states()) {
                next = product(before, next);
                out.pop_back();
            }
        }
        out.push_back(std::move(next));
    }
    return out;
}

} // namespace libperm
