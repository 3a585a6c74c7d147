#include "preprocess/branch_walk.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

bool is_leaf(const BranchTree &tree, std::int32_t k) {
    return k < tree.leaves() || tree.is_line(tree.node(k));
}

BranchLeaf leaf_at(const BranchTree &tree, std::int32_t k) {
    if (k < tree.leaves()) return tree.leaf(k);
    const BranchNode &x = tree.node(k);
    const std::int32_t line = x.row >= 0 ? x.row : x.column;
    if (tree.lines().is_row(line)) return {BranchLeaf::Kind::row, line, -1};
    return {BranchLeaf::Kind::column, line - tree.lines().rows(), -1};
}

// Every node after those above it.
std::vector<std::int32_t> from_the_root(const BranchTree &tree) {
    std::vector<std::int32_t> order;
    std::int32_t root = 0;
    while (tree.node(root).parent >= 0) root = tree.node(root).parent;
    order.push_back(root);
    for (std::size_t k = 0; k < order.size(); ++k)
        if (!is_leaf(tree, order[k]))
            for (const std::int32_t child : tree.node(order[k]).child) order.push_back(child);
    return order;
}

// Of each node the states at once below it, and which child comes first.
struct Peaks {
    std::vector<double> states;
    std::vector<char> second_first;
};

Peaks find_peaks(const BranchTree &tree, const std::vector<std::int32_t> &order) {
    Peaks peaks{std::vector<double>(at(tree.size()), 0), std::vector<char>(at(tree.size()), 0)};
    const auto table = [&](std::int32_t k) { return is_leaf(tree, k) ? 0.0 : tree.node(k).states.count; };
    for (auto k = order.rbegin(); k != order.rend(); ++k) {
        if (is_leaf(tree, *k)) continue;
        const auto [a, b] = tree.node(*k).child;
        const double first = std::max(peaks.states[at(a)], table(a) + peaks.states[at(b)]),
                     second = std::max(peaks.states[at(b)], table(b) + peaks.states[at(a)]);
        peaks.second_first[at(*k)] = second < first;
        peaks.states[at(*k)] = std::max(table(a) + table(b) + table(*k), std::min(first, second));
    }
    return peaks;
}

} // namespace

FoundBranches walked_branches(const BranchTree &tree) {
    const std::vector<std::int32_t> order = from_the_root(tree);
    const Peaks peaks = find_peaks(tree, order);
    FoundBranches found;
    found.peak_states = peaks.states[at(order.front())];
    std::vector<std::int32_t> number(at(tree.size()), -1);
    const auto leaves = static_cast<std::int32_t>(
        std::count_if(order.begin(), order.end(), [&](std::int32_t k) { return is_leaf(tree, k); }));
    std::vector<std::pair<std::int32_t, bool>> stack{{order.front(), false}}; // its children are done
    while (!stack.empty()) {
        const auto [k, done] = stack.back();
        stack.pop_back();
        if (is_leaf(tree, k)) {
            number[at(k)] = static_cast<std::int32_t>(found.tree.leaves.size());
            found.tree.leaves.push_back(leaf_at(tree, k));
            continue;
        }
        auto [a, b] = tree.node(k).child;
        if (peaks.second_first[at(k)]) std::swap(a, b);
        if (done) {
            number[at(k)] = leaves + static_cast<std::int32_t>(found.tree.joins.size());
            found.tree.joins.push_back({number[at(a)], number[at(b)]});
            found.seconds += tree.node(k).seconds;
        } else {
            stack.push_back({k, true});
            stack.push_back({b, false});
            stack.push_back({a, false});
        }
    }
    return found;
}

} // namespace libperm
