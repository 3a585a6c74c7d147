#include "lib/periodic/period/period_levels.hpp"

#include <algorithm>

namespace libperm {

double moves_of(const PeriodLevels &levels) {
    double moves = 0;
    for (const PeriodLevel &level : levels) moves += static_cast<double>(level.moves.size());
    return moves;
}

void mark_ones(PeriodLevels &levels, const std::vector<Gaussian> &values) {
    const Gaussian one{1, 0};
    for (PeriodLevel &level : levels)
        level.ones = std::all_of(level.moves.begin(), level.moves.end(),
                                 [&](const TapeMove &move) { return values[move.entry] == one; });
}

} // namespace libperm
