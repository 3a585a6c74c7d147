#include "preprocess/branch_decomposition.hpp"

#include "preprocess/block.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace libperm {
BranchSides sides_of(const Pattern &a) {
    if (!a.one_sided) return BranchSides::two;
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (!a.row(i).empty() && a.row(i).front() == i) return BranchSides::one_with_loops;
    return BranchSides::one;
}

std::int64_t bytes_of(const BranchSource &source) {
    return bytes_of(source.pattern) + bytes_of(source.tree) + std::ssize(source.kept) / 8;
}

std::array<std::int32_t, 2> lines_of(const Pattern &a, std::int64_t entry) {
    const auto end = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), entry);
    return {static_cast<std::int32_t>(end - a.row_ptr.begin()) - 1, a.line_of_column(a.col[at(entry)])};
}

std::vector<std::int32_t> leaves_of_entries(const BranchSource &source) {
    const Pattern &a = source.pattern;
    std::vector<std::int32_t> of_line(at(a.lines()), -1), of_entry(at(a.nnz()), -1);
    for (std::size_t k = 0; k < source.tree.leaves.size(); ++k) {
        const BranchLeaf &leaf = source.tree.leaves[k];
        std::int32_t &place = leaf.kind == BranchLeaf::Kind::entry ? of_entry[at(leaf.entry)]
                              : leaf.kind == BranchLeaf::Kind::row
                                  ? of_line[at(leaf.index)]
                                  : of_line[at(a.line_of_column(leaf.index))];
        place = static_cast<std::int32_t>(k);
    }
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t e = a.row_begin(i); e < a.row_begin(i + 1); ++e)
            if (of_entry[at(e)] < 0)
                of_entry[at(e)] = std::max(of_line[at(i)], of_line[at(a.line_of_column(a.col[at(e)]))]);
    return of_entry;
}

PrunedTree pruned(const BranchSource &source) {
    const BranchDecomposition &tree = source.tree;
    std::vector<bool> is_left(tree.leaves.size(), source.kept.empty());
    if (!source.kept.empty()) {
        const std::vector<std::int32_t> leaf_of = leaves_of_entries(source);
        for (std::size_t e = 0; e < leaf_of.size(); ++e)
            if (source.kept[e]) is_left[at(leaf_of[e])] = true;
    }
    PrunedTree left;
    std::vector<std::int32_t> number(at(tree.nodes()), -1);
    for (std::size_t k = 0; k < tree.leaves.size(); ++k) {
        if (!is_left[k]) continue;
        number[k] = static_cast<std::int32_t>(left.tree.leaves.size());
        left.tree.leaves.push_back(tree.leaves[k]);
        left.node.push_back(static_cast<std::int32_t>(k));
    }
    for (auto node = static_cast<std::int32_t>(tree.leaves.size()); node < tree.nodes(); ++node) {
        const auto &[x, y] = tree.joins[at(node) - tree.leaves.size()];
        const std::int32_t first = number[at(x)], second = number[at(y)];
        number[at(node)] = std::max(first, second);
        if (first < 0 || second < 0) continue;
        number[at(node)] = left.tree.nodes();
        left.tree.joins.push_back({first, second});
        left.node.push_back(node);
    }
    return left;
}

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
