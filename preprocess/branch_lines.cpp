#include "preprocess/branch_lines.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {

BranchLines::BranchLines(const Pattern &a) : rows_(a.rows), columns_(a.cols) {
    const auto nnz = static_cast<std::size_t>(a.nnz());
    row_of_.reserve(nnz);
    column_of_.reserve(nnz);
    first_.assign(static_cast<std::size_t>(count()) + 1, 0);
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) {
            row_of_.push_back(i);
            column_of_.push_back(rows_ + j);
            ++first_[static_cast<std::size_t>(i) + 1];
            ++first_[static_cast<std::size_t>(rows_ + j) + 1];
        }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    entries_.resize(2 * nnz);
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < nnz; ++e)
        for (const std::int32_t line : {row_of_[e], column_of_[e]})
            entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(line)]++)] =
                static_cast<std::int32_t>(e);
}

std::int32_t BranchLines::least_degree() const {
    std::int32_t least = count() == 0 ? 0 : degree(0);
    for (std::int32_t line = 1; line < count(); ++line) least = std::min(least, degree(line));
    return least;
}

} // namespace libperm
