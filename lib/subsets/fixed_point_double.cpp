#include "lib/subsets/fixed_point_double.hpp"

#include "jit/program/tree_program.hpp"
#include "lib/number/bits.hpp"
#include "lib/number/infinity.hpp"
#include "lib/number/scaled_rows.hpp"
#include "lib/run/input_error.hpp"
#include "lib/subsets/kernel_values.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "preprocess/index.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// Half a row's absolute sum bounds |x|, and x is a multiple of half the entries' unit: with entries that are
// multiples of 2^-53 and add up to at most 1, that are 53 bits.
constexpr int grid = -53;

// The row's entries at multiples of 2^unit, to nearest.
double absolute_on_grid(const std::vector<double> &value, std::size_t begin, std::size_t end, int unit,
                        std::vector<double> &moved) {
    double absolute = 0; // of multiples of the unit below 2^54 of them: exact
    for (std::size_t k = begin; k < end; ++k) {
        moved[k] = std::ldexp(std::nearbyint(std::ldexp(value[k], -unit)), unit);
        absolute += std::fabs(moved[k]);
    }
    return absolute;
}

} // namespace

FixedPointDouble::FixedPointDouble(const SubsetPlan &plan, const Block &block) : n_(block.n()) {
    const Pattern &p = block.pattern;
    const ScaledRows rows = scaled_rows(block);
    exp2_ = rows.exp2;
    std::vector<double> value = rows.value;
    std::vector<double> share_of_column(at(n_), 0);
    double by_rows = 0;
    for (std::int32_t i = 0; i < n_; ++i) {
        const auto begin = at(p.row_begin(i)), end = begin + p.row(i).size();
        int unit = rows.unit[at(i)];
        if (unit < grid - 1) {
            unit = grid - 1;
            // Rounded, the sum of the values may be 1 and a unit.
            if (absolute_on_grid(rows.value, begin, end, grid, value) >= 1) {
                absolute_on_grid(rows.value, begin, end, grid + 1, value);
                unit = grid;
            }
            double share = 0;
            for (std::size_t k = begin; k < end; ++k) {
                // What was lost in scaling was lost far below the grid.
                const double moved = std::fabs(value[k] - rows.value[k]) +
                                     (rows.value[k] == 0 && block.values[k].value != 0 ? 1 : 0);
                if (moved == 0) continue;
                const double s =
                    value[k] == 0 ? infinity : moved / std::fabs(value[k]) * (1 + 0x1p-50) + 0x1p-1000;
                share = std::max(share, s);
                double &of_column = share_of_column[at(p.col[k])];
                of_column = std::max(of_column, s);
            }
            by_rows += share;
        }
        sum_bits_ += -1 - unit;
        unit_ += unit;
    }
    double by_columns = 0;
    for (const double share : share_of_column) by_columns += share;
    moved_ = std::min(by_rows, by_columns) * (1 + 0x1p-40);

    scale_ones(plan, p, value);
    numbers_ = kernel_values(number::Real<double>(), plan, p, value,
                             [](double a, double sign) { return sign * 0.5 * a; });
}

// Brings the ones of a column, which the grid left as they are, to one number 2^-s by powers of two for their
// rows; the kernel takes them for ones, 2^s times as large. The derivative of a row is below the row's sum of
// absolute values, where |x| is below half of it.
void FixedPointDouble::scale_ones(const SubsetPlan &plan, const Pattern &pattern,
                                  std::vector<double> &value) {
    const Pattern columns = transpose(pattern).pattern;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree)) {
        const std::int32_t j = plan.order.cols[at(c)];
        const auto one_of = [&](std::int32_t i) -> double & {
            const auto row = pattern.row(i);
            return value[at(pattern.row_begin(i) +
                            (std::lower_bound(row.begin(), row.end(), j) - row.begin()))];
        };
        int least = 0; // exponent
        for (const std::int32_t i : columns.row(j)) least = std::min(least, std::ilogb(one_of(i)));
        for (const std::int32_t i : columns.row(j)) {
            const int down = std::ilogb(one_of(i)) - least;
            for (auto k = at(pattern.row_begin(i)); k < at(pattern.row_begin(i + 1)); ++k)
                value[k] = std::ldexp(value[k], -down);
            one_of(i) = 1;
            exp2_ += down;
            unit_ -= down;
            ++sum_bits_;
        }
        exp2_ += least;
        sign_ = -sign_;
        has_ones_ = true;
    }
}

bool has_no_negative(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.value >= 0; });
}

RoundingWay way_of(const SubsetKernel &kernel) {
    const Arithmetic a = kernel.arithmetic;
    // Sums of sums: of groups, of a window's groups, of windows.
    double compensated = 0x1p-70;
    if (is_dd(a) && !is_compensated(a))
        compensated = sum_loss(std::ldexp(1.0, 15) + std::ldexp(1.0, std::max(0, kernel.n - 29)), a);
    if (kernel.engine == SubsetEngine::tree) {
        const double of_rows = has_two_grids(a) ? kernel.n : 0; // each is put together once
        return {std::ldexp(1.0, kernel.unrolled), tree_roundings(kernel.tree, a) + of_rows,
                compensated + tree_compensated(kernel.tree, a)};
    }
    double terms = kernel.equal_chunks ? 16 : std::ldexp(1.0, kernel.unrolled), added = terms;
    if (kernel.summation == Summation::kahan) added = 3; // twice 2^-53, and the terms times 2^-106
    if (kernel.summation == Summation::dq) added = 1, compensated += 0x1p-60, terms = 1;
    if (is_dd(a)) // the sums of blocks of a segment, or of an equal chunk
        compensated += sum_loss(kernel.equal_chunks ? 0x1p32 : std::ldexp(1.0, kernel.segment_bits), a);
    return {terms, product_roundings(a) * kernel.n + added, compensated}; // the product may begin with 1
}

bool FixedPointDouble::may_be_exact(const RoundingWay &way) const {
    return moved_ == 0 &&
           std::ldexp(way.terms, static_cast<int>(std::min<std::int64_t>(sum_bits_, 200))) <= 0x1p53 &&
           n_ - 1 + static_cast<double>(sum_bits_) <= 100 && unit_ > -1000;
}

EngineResult FixedPointDouble::close(const SubsetSum &total, const Block &block,
                                     const RoundingWay &way) const {
    EngineResult result;
    const double factor = n_ % 2 ? 2 * sign_ : -2 * sign_;
    const double value = factor * (total.sum + total.error);
    const double log2_subsets = n_ - 1;
    result.counts.subsets = std::exp2(log2_subsets);
    if (may_be_exact(way) && total.error == 0) {
        result.value = ball_from(block, value, 0, exp2_);
        return result;
    }
    // One rounding more is that of the result. The sums of blocks are kept to twice the precision, at most
    // 2^16 in a row, and are added as such; the absolute values round once for each term of a segment, each
    // segment of a group, and group. Segments summed accurately say less of these, and are that much better
    // in all but the last sums.
    const double relative =
        (gamma_bound(way.roundings + 4) + way.compensated + std::exp2(log2_subsets - 124) * accurate_gain) *
        total.absolute * (1 + 0x1p-20 + std::exp2(log2_subsets - 74));
    // What is lost of a product counts as often as a reciprocal says.
    const double underflow =
        std::exp2(log2_subsets) * (n_ + way.roundings) * (has_ones_ ? 0x1p-1020 : 0x1p-1073);
    double error = 2 * (relative + underflow) + 0x1p-52 * std::fabs(value);
    if (moved_ > 0) {
        // Row i within a share s_i of itself: |perm(A) - perm(A')| <= (prod_i (1 + s_i) - 1) perm(|A'|).
        const double share = moved_ < 0.5 ? moved_ * (1 + moved_) : infinity;
        const bool nonnegative = has_no_negative(block);
        result.grid_matters = !nonnegative;
        double most = std::fabs(value) + error;
        if (!nonnegative) {
            const PermanentBound bound = permanent_bound(block);
            most = std::ldexp(bound.mantissa, ldexp_exponent(bound.exp2 - exp2_)) * (1 + share);
        }
        error += share * most * (1 + 0x1p-40);
    }
    result.value = ball_from(block, value, error, exp2_);
    return result;
}

} // namespace libperm
