// Writes the straight-line programs of a tree's leaves.
#pragma once

#include "jit/program/tree.hpp"

namespace libperm {

// Given n, the columns, segment_bits and the ranges of `root` and its parts, fills in all the rest: levels,
// fixed rows, leaves and constants. At most 31 columns in a leaf.
//
// A row sum has one version for each set of the leaf's columns that touch the row: x + constant. Products of
// rows are chains that begin with the rows that change least often, sorted by their columns as words are in a
// dictionary, so that equal beginnings are equal values. A leaf has two outputs, the sum of its terms and the
// sum of their absolute values:
//   f = sum over S of (-1)^|S| prod_i x_i(S),    g = sum over S of prod_i |x_i(S)|.
//
// A derivative's terms are the products of all rows but one. Its g is at least the sum of their absolute
// values: |d| + |p| sum_i 1 / |x_i|, with 1 / |x_i| at most that of the least in a group of sixteen rows.
// Where a row sum is 0, p is 0, and there is one term at most, d.
void write_programs(Tree &tree);

// The lowest column of each leaf that touches two rows or more; no row has entries in two of them.
std::vector<std::int32_t> derivative_columns(const Tree &tree);

// Whether two columns have entries in the same rows.
bool have_same_rows(const Tree &tree, std::int32_t x, std::int32_t y);

// Values that the kernel takes: row sums, entries, constants.
std::int64_t value_count(const Tree &tree);

// Columns that one part loops over at most, the root aside.
std::int32_t longest_loop(const Tree &tree);

// Instructions of all leaves.
std::int64_t leaf_code(const Tree &tree);

} // namespace libperm
