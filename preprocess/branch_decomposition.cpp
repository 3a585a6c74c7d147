#include "preprocess/branch_decomposition.hpp"

#include "preprocess/block.hpp"
#include "preprocess/index.hpp"

#include <algorithm>

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

} // namespace libperm
