#include "preprocess/branch_decomposition.hpp"

namespace libperm {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// Whether it was marked before.
bool mark(std::vector<bool> &marks, std::size_t place) {
    const bool before = marks[place];
    marks[place] = true;
    return before;
}

} // namespace

bool is_decomposition(const Pattern &a, const BranchDecomposition &tree) {
    if (tree.leaves.empty() || tree.joins.size() + 1 != tree.leaves.size()) return false;
    const Transposed at_once = transpose(a);
    std::vector<bool> held(static_cast<std::size_t>(a.nnz()), false);
    const auto hold = [&](std::int64_t entry) { return !mark(held, static_cast<std::size_t>(entry)); };
    std::int64_t entries = 0;
    for (const BranchLeaf &leaf : tree.leaves) {
        const bool is_row = leaf.kind == BranchLeaf::Kind::row;
        if (leaf.kind == BranchLeaf::Kind::entry) {
            if (leaf.entry < 0 || leaf.entry >= a.nnz() || !hold(leaf.entry)) return false;
            ++entries;
            continue;
        }
        const Pattern &lines = is_row ? a : at_once.pattern;
        if (leaf.index < 0 || leaf.index >= lines.rows) return false;
        const std::int64_t first = lines.row_begin(leaf.index);
        for (std::int64_t k = first; k < first + std::ssize(lines.row(leaf.index)); ++k, ++entries)
            if (!hold(is_row ? k : at_once.source[static_cast<std::size_t>(k)])) return false;
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
