#include "lib/subsets/ones.hpp"

#include "jit/program/tree_program.hpp"
#include "lib/number/infinity.hpp"
#include "lib/number/scaled_rows.hpp"
#include "lib/subsets/fixed_point_double.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace libperm {
namespace {

// The entries of a column, by row, or -1: of the columns before the last at `place` in the plan's order.
std::vector<std::int64_t> entries_of(const SubsetPlan &plan, const Block &block, std::int32_t place) {
    std::vector<std::int64_t> entries(at(block.n()), -1);
    const std::int32_t j = plan.order.cols[at(place)];
    for (std::int32_t i = 0; i < block.n(); ++i) {
        const auto row = block.pattern.row(i);
        const auto found = std::lower_bound(row.begin(), row.end(), j);
        if (found != row.end() && *found == j)
            entries[at(i)] = block.pattern.row_begin(i) + (found - row.begin());
    }
    return entries;
}

// By how many bits, over all rows, the rows' sums are apart, as multiples of these entries; infinite where
// one is 0 or far below its row's sum.
double bits_apart(const ScaledRows &rows, const std::vector<std::int64_t> &entries) {
    constexpr double most = 40;
    double largest = 0, all = 0, count = 0;
    for (const std::int64_t k : entries) {
        if (k < 0) continue;
        const double bits = -std::log2(std::fabs(rows.value[at(k)]));
        largest = std::max(largest, bits);
        all += bits, ++count;
    }
    return largest <= most ? largest * count - all : infinity;
}

// With the columns along which the tree differentiates changed for those of the same rows that leave the rows
// nearest to each other; whether that is near enough.
bool choose_columns(SubsetPlan &plan, const Block &block) {
    constexpr double most_apart = 400; // bits: doubles have 1074
    const ScaledRows rows = scaled_rows(block);
    double all = 0;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree)) {
        std::int32_t best = c;
        double least = bits_apart(rows, entries_of(plan, block, c));
        for (std::int32_t other = 0; other + 1 < plan.kernel.n; ++other) {
            if (other == c || !have_same_rows(plan.kernel.tree, c, other)) continue;
            const double apart = bits_apart(rows, entries_of(plan, block, other));
            if (apart < least) least = apart, best = other;
        }
        std::swap(plan.order.cols[at(c)], plan.order.cols[at(best)]);
        all += least;
    }
    return all <= most_apart;
}

// The row of this entry.
void divide(DividedBlock &divided, const Block &block, std::int64_t one) {
    const auto &row_ptr = block.pattern.row_ptr;
    const auto end = std::upper_bound(row_ptr.begin(), row_ptr.end(), one);
    const Tracked by = block.values[at(one)];
    divided.factor = divided.factor * by;
    for (std::int64_t k = *std::prev(end); k < *end; ++k) {
        const Tracked &from = block.values[at(k)];
        if (is_zero(from)) continue;
        Tracked &x = divided.block.values[at(k)];
        x = k == one ? tracked(1) : from / by;
        divided.is_exact = divided.is_exact && x.roundings <= from.roundings;
    }
}

double double_operations(const TreePart &part) {
    double count = 0;
    for (const TreePart &p : part.parts) count += double_operations(p);
    for (const Instruction &i : part.leaf.code) count += i.op != Op::least && i.op != Op::reciprocal;
    return count;
}

} // namespace

std::optional<DividedBlock> divided_by_ones(const SubsetPlan &plan, const Block &block) {
    DividedBlock divided{plan, block, tracked(1), true};
    if (!choose_columns(divided.plan, block)) return std::nullopt;
    for (const std::int32_t c : derivative_columns(plan.kernel.tree))
        for (const std::int64_t one : entries_of(divided.plan, block, c))
            if (one >= 0) divide(divided, block, one);
    if (!divided.is_exact && !has_no_negative(block)) return std::nullopt;
    return divided;
}

SubsetPlan with_derivative(SubsetPlan plan) {
    if (plan.kernel.engine != SubsetEngine::tree) return plan;
    SubsetPlan other = plan;
    other.kernel.tree.derivative = true;
    write_programs(other.kernel.tree);
    const double before = double_operations(plan.kernel.tree.root),
                 after = double_operations(other.kernel.tree.root);
    constexpr double worth_it = 0.9; // beside more values that are alive at once
    if (derivative_columns(other.kernel.tree).empty() || after > worth_it * before) return plan;
    other.flops_per_subset *= after / before;
    return other;
}

} // namespace libperm
