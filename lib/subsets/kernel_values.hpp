// Where a kernel takes the entries of a block, and x at the empty set.
#pragma once

#include "jit/kernel/row_sums.hpp"
#include "jit/program/tree_program.hpp"
#include "lib/subsets/plan.hpp"
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

} // namespace libperm
