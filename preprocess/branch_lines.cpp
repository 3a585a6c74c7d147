#include "preprocess/branch_lines.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

// Whether it was marked before.
bool mark(std::vector<bool> &marks, std::size_t place) {
    const bool before = marks[place];
    marks[place] = true;
    return before;
}

} // namespace

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

bool is_decomposition(const Pattern &a, const BranchDecomposition &tree) {
    if (tree.leaves.empty() || tree.joins.size() + 1 != tree.leaves.size()) return false;
    if (a.nnz() > std::numeric_limits<std::int32_t>::max()) return false;
    const BranchLines lines(a);
    std::vector<bool> held(static_cast<std::size_t>(a.nnz()), false);
    const auto hold = [&](std::int64_t entry) { return !mark(held, static_cast<std::size_t>(entry)); };
    std::int64_t entries = 0;
    for (const BranchLeaf &leaf : tree.leaves) {
        if (leaf.kind == BranchLeaf::Kind::entry) {
            if (leaf.entry < 0 || leaf.entry >= a.nnz() || !hold(leaf.entry)) return false;
            ++entries;
            continue;
        }
        const bool is_row = leaf.kind == BranchLeaf::Kind::row;
        if (leaf.index < 0 || leaf.index >= (is_row ? lines.rows() : lines.columns())) return false;
        if (lines.has_loop(lines.line_of(leaf))) return false;
        for (const std::int32_t entry : lines.on(lines.line_of(leaf))) {
            if (!hold(entry)) return false;
            ++entries;
        }
    }
    if (entries != a.nnz()) return false;
    std::vector<bool> joined(static_cast<std::size_t>(tree.nodes()), false);
    auto node = static_cast<std::int32_t>(tree.leaves.size());
    for (const std::array<std::int32_t, 2> &join : tree.joins) {
        for (const std::int32_t child : join)
            if (child < 0 || child >= node || mark(joined, at(child))) return false;
        ++node;
    }
    return true;
}

} // namespace libperm
