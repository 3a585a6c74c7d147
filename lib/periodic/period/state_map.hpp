// What a symmetry of the cell makes of the states at a cut.
#pragma once

#include "lib/periodic/cell/symmetries.hpp"
#include "lib/periodic/period/period_writer.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace libperm {

class StateMap {
  public:
    // None where a column that is open at the cut would become one that is not.
    static std::optional<StateMap> of(const PeriodProgram &program, const ColumnMap &of_even_cells,
                                      const ColumnMap &of_odd_cells, bool reversed);

    // Seen from the other end, a column has been used if it had not been.
    PeriodKey operator()(PeriodKey key) const {
        PeriodKey image = 0;
        for (const auto &[from, to] : moved_)
            if (((key & from) != 0) != reversed_) image |= to;
        return image;
    }
    std::int64_t steps() const { return static_cast<std::int64_t>(2 * moved_.size()); }

  private:
    std::vector<std::pair<PeriodKey, PeriodKey>> moved_; // a bit and what it becomes
    bool reversed_ = false;
};

} // namespace libperm
