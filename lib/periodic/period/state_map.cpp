#include "lib/periodic/period/state_map.hpp"

namespace libperm {

std::optional<StateMap> StateMap::of(const PeriodProgram &program, const ColumnMap &of_even_cells,
                                     const ColumnMap &of_odd_cells, bool reversed) {
    if (program.most_shift != 0) return {}; // the cut is less symmetric than the cell
    StateMap out;
    out.reversed_ = reversed;
    for (std::size_t c = 0; c < program.windows.size(); ++c) {
        const PeriodWindow &from = program.windows[c];
        for (std::int64_t cell = -from.last; cell + from.first < 0; ++cell) {
            const ColumnMap &map = cell % 2 == 0 ? of_even_cells : of_odd_cells;
            const PeriodWindow &to = program.windows[static_cast<std::size_t>(map[c])];
            const std::int64_t image = reversed ? -1 - cell : cell;
            if (!to.is_open(image, 0)) return {};
            out.moved_.emplace_back(bit_of(from.slot_of(cell, 0)), bit_of(to.slot_of(image, 0)));
        }
    }
    return out;
}

} // namespace libperm
