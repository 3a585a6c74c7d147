// What an order of the columns takes in the tree engine: its loops, and the straight-line code of the
// lowest columns, counted without writing it.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace libperm {

// A set of rows or columns, by bits: at most 64 of each.
using LineSet = std::uint64_t;

// f(k) for the k of a set, ascending.
template <class F> void for_each(LineSet set, F f) {
    for (; set != 0; set &= set - 1) f(std::countr_zero(set));
}

// Its instructions, the very number that jit/program/tree.hpp makes; and about how many values it
// keeps at once beside the row sums.
struct LeafWork {
    double operations = 0, values = 0;
};

LeafWork leaf_work(const std::vector<LineSet> &columns); // of at most 16

// What the tree engine (jit/program/tree.hpp) makes of an order of the columns: which are looped over, where
// the rest falls apart, which are a straight-line program; and how many operations that takes.

// Columns begin .. end - 1 of the order; from `loop` on they are looped over, those below are `parts` that
// share no row, or straight-line code.
struct TreeShape {
    std::int32_t begin = 0, loop = 0, end = 0;
    std::vector<TreeShape> parts;
};

constexpr std::int32_t most_tree_columns = 64;

// Of straight-line code, measured on an H100: what is longer, or what the registers cannot hold, takes
// longer.
struct TreeLimits {
    std::int32_t unrolled = 14; // columns
    double instructions = 1300;
    double values = 140;   // kept at once beside the row sums, about
    double iteration = 20; // instructions that a turn of a loop costs beside its sums and products
};

// The cheapest shape for columns 0 .. n - 2 of `columns` (n of them, the last is left out), and the order
// that it is meant for: `place[p]` is the column at place p.
struct ShapedOrder {
    TreeShape root;
    std::vector<std::int32_t> place;
    double operations = 0; // of all subsets together
};
ShapedOrder shape_of(const std::vector<LineSet> &columns, const TreeLimits &limits);

// What orders are compared by: the operations, and more if few columns of the root are looped over, because
// these are what threads and lanes share out.
struct TreeCost {
    double cost = 0;
    std::int32_t looped = 0; // columns of the root, the highest
    double seconds = 0;      // that counting it took, about: counted, not measured
};
TreeCost tree_cost(const std::vector<LineSet> &columns, const TreeLimits &limits);

} // namespace libperm
