// A block's values as kernels take them: where each entry stands, and the grids of doubles and wider
// numbers, or the residues, on which row sums round nowhere; and the permanent from the sum over all
// subsets.
#pragma once

#include "jit/kernel/leaf.hpp"
#include "jit/program/tree.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/block.hpp"
#include "preprocess/pattern.hpp"

#include <vector>

namespace libperm {

// The tree's constants, which follow the entries, from these.
template <class A>
void fill_constants(const A &f, const SubsetKernel &kernel, std::vector<typename A::Row> &numbers) {
    auto to = numbers.begin() + kernel.n + static_cast<std::ptrdiff_t>(kernel.row.size());
    for (const TreeConstant &c : kernel.tree.constants) {
        typename A::Row sum = typename A::Row{};
        for (const std::int32_t j : c.columns)
            sum = f.add(sum, numbers[static_cast<std::size_t>(kernel.n + entry_of(kernel.tree, c.row, j))]);
        *to++ = sum;
    }
}

// The values that a kernel with the same entries and other leaves takes.
inline std::vector<double> numbers_of(const SubsetKernel &other, const std::vector<double> &numbers) {
    return with_arithmetic_of(other.arithmetic, numbers, [&](const auto &f) {
        using Row = typename std::remove_cvref_t<decltype(f)>::Row;
        std::vector<Row> rows(static_cast<std::size_t>(value_count(other)));
        const std::size_t kept = static_cast<std::size_t>(other.n) + other.row.size();
        std::memcpy(static_cast<void *>(rows.data()), numbers.data(), kept * sizeof(Row));
        fill_constants(f, other, rows);
        std::vector<double> values(rows.size() * sizeof(Row) / sizeof(double));
        std::memcpy(values.data(), rows.data(), values.size() * sizeof(double));
        return values;
    });
}

// `entry`: by entry of the pattern, of A or A^T as the plan has it; half(a, sign) is sign * a / 2, which is
// exact, as the arithmetic's sums of a row's are. Layout: jit/kernel/subsets.hpp.
template <class A, class Half>
std::vector<double> kernel_values(const A &f, const SubsetPlan &plan, const Pattern &pattern,
                                  const std::vector<typename A::Row> &entry, const Half &half) {
    using Row = typename A::Row;
    const SubsetKernel &kernel = plan.kernel;
    const std::int32_t n = kernel.n;
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::vector<std::int32_t> column_place(at(n));
    for (std::int32_t r = 0; r < n; ++r) column_place[at(plan.order.cols[at(r)])] = r;

    std::vector<bool> is_derivative(at(n)); // half of these is in no x
    for (const std::int32_t c : derivative_columns(kernel.tree)) is_derivative[at(c)] = true;
    std::vector<Row> numbers(at(value_count(kernel)), typename A::Row{});
    std::vector<std::int64_t> next(kernel.column_ptr); // by column; rows ascend
    for (std::int32_t r = 0; r < n; ++r) {
        const std::int32_t i = plan.order.rows[at(r)];
        Row x = typename A::Row{};
        std::size_t k = at(pattern.row_begin(i));
        for (const std::int32_t j : pattern.row(i)) {
            const std::int32_t c = column_place[at(j)];
            if (!is_derivative[at(c)]) x = f.add(x, half(entry[k], c == n - 1 ? 1.0 : -1.0));
            const auto to = next.empty() ? std::int64_t{c} * n + r : next[at(c)]++;
            numbers[at(n + to)] = entry[k++];
        }
        numbers[at(r)] = x;
    }
    fill_constants(f, kernel, numbers);
    std::vector<double> values(numbers.size() * A::row_parts);
    std::memcpy(values.data(), numbers.data(), values.size() * sizeof(double));
    return values;
}

// A block's values as the GPU's kernels take them: on a grid on which the row sums round nowhere, so that
// they are the same whichever way the Gray code is walked, and do not drift.

// The sum over all segments, or over a part.
struct SubsetSum {
    double sum = 0, error = 0, absolute = 0; // sum + error; and of the absolute values
    double im = 0, im_error = 0;             // of complex numbers, the imaginary part
};

// Of so many terms the sum is a number as any other, and each term is rounded so often on its way to it, in
// units of the arithmetic. `compensated`: what a Sum's additions lose, as a share of their absolute values.
struct RoundingWay {
    double terms, roundings, compensated = 0x1p-70;
};
RoundingWay way_of(const SubsetKernel &kernel);

// Whether no value is negative, as it stands.
bool has_no_negative(const Block &block);

class FixedPointDouble {
  public:
    // `block` is A or A^T as the plan has it; with ones in the columns along which that takes two subsets at
    // once (lib/subsets/subset_sum.hpp).
    FixedPointDouble(const SubsetPlan &plan, const Block &block);

    // x at the empty set, then the entries in the kernel's order, then the tree's constants.
    const std::vector<double> &numbers() const { return numbers_; }

    double moved() const { return moved_; }
    std::int64_t exp2() const { return exp2_; }
    // Whether the grid leaves room for a bound as small as this; of signed entries that is not known yet.
    bool may_reach(double tolerance) const { return moved_ < tolerance; }

    // Whether products of whole numbers fit a double, sums of a block's do, and all that fit two.
    bool may_be_exact(const RoundingWay &way) const;

    // The permanent and its bound from the sum over all subsets.
    EngineResult close(const SubsetSum &total, const Block &block, const RoundingWay &way) const;

  private:
    void scale_ones(const SubsetPlan &plan, const Pattern &pattern, std::vector<double> &value);

    std::int32_t n_;
    double sign_ = 1; // of the sum, by the columns of ones
    bool has_ones_ = false;
    std::vector<double> numbers_;
    std::int64_t exp2_ = 0;     // the permanent is that of numbers() times 2^exp2_
    double moved_ = 0;          // entries by at most a share s_i of row i: the sum of these
    std::int64_t sum_bits_ = 0; // of a product of all row sums, when nothing is rounded
    std::int64_t unit_ = 0;     // it is a multiple of 2^unit_
};

// An exact block's values as the kernels of the wide arithmetics (complex, dd, complex dd) take them: on a
// grid on which the row sums round nowhere, as FixedPointDouble has it.
class FixedPointWide {
  public:
    // `block` is A or A^T as the plan has it, with a perfect matching of entries other than 0.
    FixedPointWide(const SubsetPlan &plan, const ExactBlock &block);

    const std::vector<double> &numbers() const { return numbers_; } // jit/kernel/subsets.hpp

    // The first double of each number.
    std::vector<double> leading(const SubsetKernel &kernel) const;
    bool is_nonnegative() const { return nonnegative_; }

    // Whether the grid does not hold all entries.
    bool is_moved() const;

    // The permanent and its bound from the sum over all subsets.
    EngineResult close(const SubsetSum &total, const SubsetKernel &kernel) const;

  private:
    void fill_in(const SubsetPlan &plan, const Pattern &pattern, const std::vector<Parts> &parts);
    double lost(double most) const;

    // In the units of the scaled block: A' is what is summed, A the block.
    Block sizes_;               // of each entry at least |a| and |a'|
    std::vector<double> moved_; // by row: an entry by at most this
    double share_ = 0;          // sum over the rows (or columns) of the largest |a' - a| / |a'|
    bool nonnegative_ = true;
    std::vector<double> numbers_;
    std::int64_t exp2_ = 0;     // the permanent is the sum times 2^exp2_
    std::int64_t sum_bits_ = 0; // of a product of all row sums, when nothing is rounded
};

// Of matrix `which`; the pattern is that of A or A^T as the plan has it. jit/kernel/subsets.hpp has the
// layout.
std::vector<double> residue_values(const SubsetPlan &plan, const Residues &residues, std::size_t which);

// 0 .. prime - 1.
std::uint64_t residue_permanent(const SubsetPlan &plan, double sum, std::uint64_t prime);

} // namespace libperm
