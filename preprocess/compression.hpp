// Lines of few entries taken out, of a matrix and of a graph, and the expansion along one.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/contraction.hpp"
#include "preprocess/limits.hpp"

namespace libperm {

// perm = factor * perm(block).
template <class Value> struct PartOf {
    BlockOf<Value> block;
    Value factor = number_one<Value>();
};

struct CompressionRule {
    bool degree_1 = true, degree_2 = true;
};

template <class Value> struct Compression {
    PartOf<Value> part;
    bool is_zero = false; // a line without entries: the permanent is 0 and `part` means nothing
    std::int64_t degree_1 = 0, degree_2 = 0; // lines taken out
};

// A row or column of at most two entries: else there is nothing to take out.
bool has_light_line(const Pattern &a);

// O(nnz log nnz), whatever the degrees.
template <class Value> Compression<Value> compress(BlockOf<Value> block, const CompressionRule &rule);

// Lines of a graph with one or two entries taken out until there are none.
//
// A line of degree 1 takes its neighbour with it, or goes by its loop. One of degree 2, with neighbours a and
// b, makes one line of these: it is matched to a, and b to another, or the other way round. One with a loop
// and one neighbour leaves that matched, which is a loop of it, or not. No line is gained, nor an entry.

template <class Value> Compression<Value> compress_graph(BlockOf<Value> graph, const CompressionRule &rule);

// The expansion of a permanent along a row or column with few entries (Forbert and Marx, J. Comput. Phys.
// 2003; SUperman, Eq. 6 and d34compress of Algorithm 4).

// The line with the fewest entries; the lowest index of these, rows before columns (SUperman's choice).
Line lightest_line(const Pattern &a);

std::int32_t degree_of(const Pattern &a, Line line);

// Entries of the line are taken two and two, and the last one alone if their number is odd: perm is the sum
// over the parts, each smaller by one row and column. A line of degree 1 or 2 makes one part, 3 or 4 two.
template <class Value> std::vector<PartOf<Value>> expand(const BlockOf<Value> &block, Line line);

} // namespace libperm
