// How a block is summed by the tree engine, on a GPU or on a CPU; and a tree's order as bytes, and back,
// checked.
#pragma once

#include "lib/run/kept_orders.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/tree_order.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace libperm {

// Why no tree can hold a block of order n, or empty.
std::string tree_why_not(std::int32_t n);

struct TreeSearch {
    std::uint64_t seed = 0;
    double seconds = 0;                  // of both sides together, as counted
    int parts = 1;                       // doubles of a number
    std::optional<KeptOrders> kept = {}; // where what is found is kept, if that is worth it
};

// n at most most_tree_columns. The outline lacks the leaves' programs: it tells the cost, and is not run.
SubsetPlan outline_tree(const Pattern &a, const Pattern &at, const TreeSearch &search);
SubsetPlan plan_tree(const Pattern &a, const Pattern &at, const TreeSearch &search);
// The outline for an order.
SubsetPlan outline_tree(const Pattern &a, const Pattern &at, const TreeOrder &order, int parts = 1);

// Roundings on the way of a term of the sum at most, without those of adding up the segments; in units of the
// arithmetic.
double tree_roundings(const Tree &tree, Arithmetic arithmetic = Arithmetic::real);
// What the loops' sums lose at most, as a share of their absolute values (sum_loss).
double tree_compensated(const Tree &tree, Arithmetic arithmetic = Arithmetic::real);

// What so many additions to a Sum in a row lose: of doubles, whose errors are kept, m^2 2^-106; of numbers of
// two doubles 3 * 2^-106 of each sum on the way.
double sum_loss(double additions, Arithmetic arithmetic);

// Of one thread. What subsets share waits in more values than the first-level cache holds for all lanes.
double tree_operations_per_second(std::int32_t n, double operations_per_subset);

// A tree's order as bytes, and back, checked: in a saved plan, and where what was found is kept.

std::string bytes_of(const TreeOrder &order);

// Throws DamagedField, or cereal's exceptions, for what is no order of these columns.
TreeOrder tree_order_from(std::string_view bytes, const Pattern &a, const Pattern &at);

} // namespace libperm
