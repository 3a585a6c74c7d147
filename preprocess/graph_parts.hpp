// A graph taken apart: lines that hang together, and those of two sides, whose hafnian is a permanent.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/poll.hpp"

#include <optional>
#include <vector>

namespace libperm {

// An entry with its lines, in any order.
template <class Value> struct GraphEntry {
    std::int32_t row, column;
    Value value;
};

// From entries that stand in no order, at most one in each place; of a graph row <= column.
template <class Value>
BlockOf<Value> block_of(std::int32_t rows, std::int32_t columns, bool one_sided,
                        std::vector<GraphEntry<Value>> entries);

// The connected components, by their lowest lines, which keep their order.
template <class Value> std::vector<BlockOf<Value>> connected_parts(BlockOf<Value> graph);

// A connected graph as a matrix, whose rows are the lines at an even distance from the first; none: it has a
// loop, or an odd cycle. Its permanent is the hafnian where it is square; else that is 0.
template <class Value> std::optional<BlockOf<Value>> as_two_sided(const BlockOf<Value> &graph);

// Both halves of the symmetric matrix of a graph.
Pattern both_halves(const Pattern &graph);
Block both_halves(const Block &graph);

} // namespace libperm
