#include "preprocess/branch_price.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

double power(double x, std::int32_t n) {
    double product = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) product *= x;
    return product;
}

} // namespace

BranchStates BranchPricing::states(std::int32_t width, std::int32_t used) const {
    BranchStates s;
    s.width = width;
    s.used = used;
    s.count = std::exp2(std::clamp(log2_states_(width, used), 0.0, most_log2_branch_states));
    constexpr double least = 1e-3;
    if (log2_states_.sides() != BranchSides::two)
        s.used_share = 0.5;
    else if (width > 0)
        s.used_share = std::clamp(static_cast<double>(used) / width, least, 1 - least);
    return s;
}

double BranchPricing::pairs(const JoinShape &join, const BranchStates &first,
                            const BranchStates &second) const {
    if (second.leaf) return step_pairs(join, first, second);
    if (first.leaf) return step_pairs(join, second, first);
    const double a = first.used_share, b = second.used_share;
    const double column_in_one_or_none = 1 - a * b, row_in_one_or_none = 1 - (1 - a) * (1 - b);
    const double in_one = a * (1 - b) + b * (1 - a);
    return std::max(1.0, first.count * second.count * power(column_in_one_or_none, join.stay_columns) *
                             power(row_in_one_or_none, join.stay_rows) *
                             power(in_one, join.leave_rows + join.leave_columns));
}

// For each state of the table the entries of the leaf that it can take, or for a single one the choice to
// leave it. What leaves must be matched by now.
double BranchPricing::step_pairs(const JoinShape &join, const BranchStates &table,
                                 const BranchStates &leaf) const {
    const double column = table.used_share, row = 1 - column; // the chance that it is matched
    if (leaf.choices == 1) {
        const double left = power(row, join.leave_rows) * power(column, join.leave_columns);
        const double taken = power(1 - row, join.leave_rows + join.stay_rows) *
                             power(1 - column, join.leave_columns + join.stay_columns);
        return std::max(1.0, table.count * (left + taken));
    }
    const bool of_rows = join.leave_rows + join.stay_rows > 0; // its shared lines: it is a column
    const double matched = of_rows ? row : column;
    const std::int32_t leave = join.leave_rows + join.leave_columns,
                       stay = join.stay_rows + join.stay_columns;
    const std::int32_t fresh = leaf.choices - leave - stay;
    const double to_leave = leave == 0 ? 0 : leave * (1 - matched) * power(matched, leave - 1);
    const double others = (stay * (1 - matched) + fresh) * power(matched, leave);
    return std::max(1.0, table.count * (to_leave + others));
}

double BranchPricing::seconds(const JoinShape &join, const BranchStates &first, const BranchStates &second,
                              const BranchStates &result) const {
    const double of_pair = first.leaf || second.leaf ? price_.step : price_.product;
    const double seconds = price_.node + of_pair * pairs(join, first, second) + price_.state * result.count;
    return seconds * std::max(1.0, result.count / most_states_);
}

double BranchPricing::least_seconds(std::int32_t degree) const {
    const bool is_known = log2_states_.sides() == BranchSides::two;
    const std::int32_t m = is_known && degree > 4 ? (degree + 3) / 4 : 0;
    return price_.state * states(2 * m, m).count;
}

} // namespace libperm
