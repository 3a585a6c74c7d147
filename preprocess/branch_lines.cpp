#include "preprocess/branch_lines.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {

BranchLines::BranchLines(const Pattern &a)
    : rows_(a.one_sided ? 0 : a.rows), columns_(a.cols), sides_(sides_of(a)) {
    if (sides_ == BranchSides::one_with_loops) loops_.assign(static_cast<std::size_t>(count()), false);
    lines_of_.reserve(static_cast<std::size_t>(a.nnz()));
    first_.assign(static_cast<std::size_t>(count()) + 1, 0);
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) {
            lines_of_.push_back({i, a.line_of_column(j)});
            for (const std::int32_t line : of(entries() - 1)) ++first_[static_cast<std::size_t>(line) + 1];
            if (a.line_of_column(j) == i) loops_[static_cast<std::size_t>(i)] = true;
        }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    entries_.resize(static_cast<std::size_t>(first_.back()));
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::int32_t e = 0; e < entries(); ++e)
        for (const std::int32_t line : of(e))
            entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(line)]++)] = e;
}

std::int32_t BranchLines::least_degree() const {
    std::int32_t least = count() == 0 ? 0 : degree(0);
    for (std::int32_t line = 1; line < count(); ++line) least = std::min(least, degree(line));
    return least;
}

} // namespace libperm
