// The tree engine's work: Nijenhuis and Wilf's sum by distributing products over sums wherever columns share
// no row, and by keeping products of rows that the last change of columns has left alone.
//
//   f(C, x) = prod_{i in R} x_i f(C \ c, x) - prod_{i in R} x'_i f(C \ c, x'),   x' = x + column c,
//
// c the highest column of C, R the rows that c touches and no lower column of C does; if C falls into columns
// that share no row, f is the product over these parts. The lowest columns of a part are a straight-line
// program, the others are looped over in Gray-code order.
//
// Or two subsets at once: where the rows of the lowest column c of a leaf have the same entry there, 1,
//
//   f({c}, x) = sum_{i in R} prod_{k in R, k != i} x_k,   x without c,
//
// the derivative of the product along the column in the place of its difference, with the sign of what is
// added to the empty set; x has none of the column, where it has minus half of others. Of a product of n
// linear forms both leave the terms that have c an odd number of times, and the sums over the other columns
// only those that have each once. A product and its derivative take one multiplication and one fused step a
// row, (p, d) -> (p x, d x + p), where two products of sums that differ take three operations.
#pragma once

#include "jit/program/straight_line.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Columns begin .. end - 1 of the order, and the rows whose lowest column is among these. The columns from
// `loop` on are looped over; those below are `parts` of this one, or its `leaf`.
struct TreePart {
    std::int32_t begin = 0, loop = 0, end = 0;
    std::vector<std::vector<std::int32_t>> level; // by looped column: the rows whose lowest column it is
    std::vector<TreePart> parts;                  // side by side, sharing no row
    StraightLine leaf;                            // if there are no parts; inputs: all n rows
};

// What the leaves' programs add to a row sum: the sum of the row's entries in these columns.
struct TreeConstant {
    std::int32_t row;
    std::vector<std::int32_t> columns;
};

struct Tree {
    std::int32_t n = 0;
    std::vector<std::int64_t>
        column_ptr;                // n + 1: entries of column j are column_ptr[j] .. column_ptr[j+1] - 1
    std::vector<std::int32_t> row; // of each entry; ascending in a column
    std::int32_t segment_bits = 0; // columns below are summed in one segment; at most n - 1
    TreePart root;                 // columns 0 .. n - 2; root.loop <= segment_bits
    bool derivative = false;       // two subsets at once, along derivative_columns (below)
    std::vector<std::int32_t> fixed_rows; // whose lowest column is the last, n - 1: their x never changes
    std::vector<TreeConstant> constants;
};

// Writes the straight-line programs of a tree's leaves.

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
