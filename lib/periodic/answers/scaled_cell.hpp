// A cell's entries as doubles near 1, for what is squared: powers of two are taken out of its rows.
#pragma once

#include "jit/number/number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace libperm {

struct RowExponents {
    std::int64_t highest = 0, lowest = 0;
    bool known = false, has_one = false;

    // A walk does not multiply by 1 where that is all there is.
    std::int64_t taken_out() const { return has_one ? 0 : highest; }
};

// Whether a period's numbers stay in the range of doubles, its entries scaled.
bool may_be_squared(const PeriodicPlan &plan);

// Each row of a cell is scaled so that its entries are about 1, and ones stay what they are; a period's
// numbers are then 2^-per_period of what they are.
class ScaledCell {
  public:
    explicit ScaledCell(const PeriodicPlan &plan);

    template <class A>
    std::vector<typename A::Number> factors(const std::vector<Gaussian> &values,
                                            Arithmetic arithmetic) const {
        std::vector<typename A::Number> out(values.size(), A::number(1)); // the ends' are not met in a period
        for (std::size_t k = 0; k < plan_.matrix.entries.size(); ++k) {
            const auto row = static_cast<std::size_t>(plan_.matrix.entries[k].row);
            const PackedParts parts =
                packed(parts_of(values[k], rows_[row].taken_out(), arithmetic), arithmetic);
            std::memcpy(&out[k], parts.data(), sizeof out[k]);
        }
        return out;
    }
    std::int64_t per_period() const { return per_period_; }
    // log2 of what the moves of a period add up to at most, twice at each level; the entries as they are
    // scaled.
    double log_of_moves(const PeriodBlock &block) const;

  private:
    const PeriodicPlan &plan_;
    std::vector<RowExponents> rows_;
    std::int64_t per_period_ = 0;
};

} // namespace libperm
