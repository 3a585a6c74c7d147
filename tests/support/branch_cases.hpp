// Random branch decompositions: of all three kinds of leaves, joined in any order.
#pragma once

#include "bench/families.hpp"
#include "preprocess/branch_program.hpp"

#include <utility>
#include <vector>

namespace branch_cases {

using libperm::BranchDecomposition, libperm::BranchLeaf, libperm::Pattern;

enum class Leaves { rows, columns, entries, mixed };

inline BranchDecomposition random_tree(const Pattern &a, Leaves leaves, perm::families::Random &random) {
    BranchDecomposition tree;
    std::vector<char> held(static_cast<std::size_t>(a.nnz()), 0);
    const libperm::Transposed at = libperm::transpose(a);
    const auto take = [&](BranchLeaf::Kind kind, std::int32_t line) {
        const bool is_row = kind == BranchLeaf::Kind::row;
        const Pattern &lines = is_row ? a : at.pattern;
        std::vector<std::size_t> entries;
        for (std::int64_t k = lines.row_begin(line); k < lines.row_begin(line) + std::ssize(lines.row(line));
             ++k)
            entries.push_back(static_cast<std::size_t>(is_row ? k : at.source[static_cast<std::size_t>(k)]));
        for (const std::size_t e : entries)
            if (held[e]) return;
        for (const std::size_t e : entries) held[e] = 1;
        tree.leaves.push_back({kind, line, -1});
    };
    const double share = leaves == Leaves::mixed ? 0.4 : leaves == Leaves::entries ? 0 : 1;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const BranchLeaf::Kind kind : {BranchLeaf::Kind::row, BranchLeaf::Kind::column}) {
            if (leaves == Leaves::rows && kind == BranchLeaf::Kind::column) continue;
            if (leaves == Leaves::columns && kind == BranchLeaf::Kind::row) continue;
            if (random.chance(share)) take(kind, i);
        }
    for (std::size_t e = 0; e < held.size(); ++e)
        if (!held[e]) tree.leaves.push_back({BranchLeaf::Kind::entry, -1, static_cast<std::int64_t>(e)});
    // One branch, or all that there are, or some of each.
    const double path = random.uniform(0, 1);
    std::vector<std::int32_t> loose;
    for (const std::int64_t k : random.permutation(std::ssize(tree.leaves)))
        loose.push_back(static_cast<std::int32_t>(k));
    auto node = static_cast<std::int32_t>(loose.size());
    while (loose.size() > 1) {
        const auto pick = [&](bool newest) {
            const auto place = newest ? std::ssize(loose) - 1 : random.integer(0, std::ssize(loose) - 1);
            return std::exchange(loose[static_cast<std::size_t>(place)], loose.back());
        };
        const std::int32_t x = pick(random.chance(path));
        loose.pop_back();
        const std::int32_t y = pick(false);
        loose.pop_back();
        tree.joins.push_back({x, y});
        loose.push_back(node++);
    }
    return tree;
}

} // namespace branch_cases
