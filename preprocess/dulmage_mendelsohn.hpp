// The fine Dulmage-Mendelsohn decomposition of a square matrix with a perfect matching (Dulmage and
// Mendelsohn 1958; Pothen and Fan, ACM TOMS 16, 1990; SUperman §4.1).
//
// Draw an edge from row i to the row matched with column j for each entry (i, j). Entries between two
// strongly connected components are in no perfect matching; without them the components are blocks, and the
// permanent is the product of theirs.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/matching.hpp"

namespace libperm {

// The blocks, by their lowest row; rows and columns keep their order inside. O(n + nnz).
template <class Value>
std::vector<BlockOf<Value>> dulmage_mendelsohn(BlockOf<Value> block, const Matching &perfect);

// Of each row, the number of its block, by which the matrix is lower block triangular; a column is in the
// block of the row it is matched with. Of an empty matching column i goes with row i: then the blocks are the
// strong components of a graph.
std::vector<std::int32_t> triangular_blocks(const Pattern &a, const Matching &perfect);

} // namespace libperm
