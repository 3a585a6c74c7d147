#include "lib/periodic/answers/scaled_cell.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

std::vector<RowExponents> row_exponents(const PeriodicPlan &plan) {
    std::vector<RowExponents> rows(static_cast<std::size_t>(plan.matrix.rows));
    for (std::size_t k = 0; k < plan.matrix.entries.size(); ++k) {
        RowExponents &row = rows[static_cast<std::size_t>(plan.matrix.entries[k].row)];
        const Tracked size = magnitude_of(plan.values[k]);
        const std::int64_t exp2 = size.exp2 + std::ilogb(size.magnitude);
        row.highest = row.known ? std::max(row.highest, exp2) : exp2;
        row.lowest = row.known ? std::min(row.lowest, exp2) : exp2;
        row.known = true;
        row.has_one = row.has_one || plan.values[k] == Gaussian{1, 0};
    }
    return rows;
}

} // namespace

ScaledCell::ScaledCell(const PeriodicPlan &plan) : plan_(plan), rows_(row_exponents(plan)) {
    for (const RowExponents &row : rows_) per_period_ += row.taken_out();
}

double ScaledCell::log_of_moves(const PeriodBlock &block) const {
    double sum = 0;
    for (const RowExponents &row : rows_)
        sum += static_cast<double>(std::max<std::int64_t>(row.highest - row.taken_out(), 0));
    for (const PeriodLevel &level : block.levels) {
        std::uint32_t longest = 1;
        for (std::size_t s = 0; s < level.states(); ++s)
            longest = std::max(longest, level.first[s + 1] - level.first[s]);
        sum += std::log2(longest) + 1;
    }
    return sum;
}

bool may_be_squared(const PeriodicPlan &plan) {
    constexpr double most = 900; // of a double's exponents
    const ScaledCell cell(plan);
    double spread = 0, moves = 0;
    for (const RowExponents &row : row_exponents(plan))
        spread += static_cast<double>(row.highest) - static_cast<double>(row.lowest);
    if (plan.joined())
        for (const PeriodBlock &block : plan.loops) moves = std::max(moves, cell.log_of_moves(block));
    else
        moves = cell.log_of_moves(plan.open.period);
    return spread + moves < most;
}

} // namespace libperm
