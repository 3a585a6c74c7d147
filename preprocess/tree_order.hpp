// Search for the column order that makes the tree engine cheapest.
#pragma once

#include "preprocess/pattern.hpp"
#include "preprocess/tree_cost.hpp"

#include <functional>

namespace libperm {

struct TreeOrderOptions {
    std::uint64_t seed = 0;
    TreeLimits limits;
    double seconds = 0.05; // of the searches on each side, about: what they do is counted, not timed
};

struct TreeOrder {
    bool transposed = false;
    std::vector<std::int32_t> columns; // of A, or of A^T; the last is left out (Nijenhuis and Wilf)
    TreeShape root;
    double operations = 0;
};

// Greedy starts (few new rows; least degree of elimination; separators first), then moves and swaps of single
// columns, one of them none that the root loops over, on A and on A^T side by side. A search of 0.02 s or
// more on a side is cut into four, from seeds of their own. The same arguments give the same order on any
// number of threads. `at` is the transpose of `a`; at most most_tree_columns of each.
TreeOrder find_tree_order(const Pattern &a, const Pattern &at, const TreeOrderOptions &options);

// The cheapest orders that the same search met, at most so many, the cheapest first.
std::vector<TreeOrder> find_tree_orders(const Pattern &a, const Pattern &at, const TreeOrderOptions &options,
                                        std::size_t most);

// The same columns in the cheapest shape within other limits.
TreeOrder shaped_within(const TreeLimits &limits, const TreeOrder &order, const Pattern &a,
                        const Pattern &at);

} // namespace libperm
