// A graph taken apart: without entries that are in no perfect matching, into lines that hang together, and
// into two sides.
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"

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

// Entries of a graph that are in no perfect matching.
//
// Let M be a perfect matching, and take a line u out. Its partner alone is unmatched then, and an entry uv is
// in some perfect matching just where a path leads from the partner to v that goes along an entry outside M
// and one of M in turn, an even number in all: v is one of the lines that some largest matching of what is
// left leaves out (Gallai, Magyar Tud. Akad. Mat. Kut. Int. Kozl. 9, 1964; Edmonds, Canad. J. Math. 17,
// 1965).

// Of each entry whether it may be in a perfect matching; where all have not been looked at within a bound of
// steps, which is linear, of the others, too.
std::vector<char> entries_in_matchings(const Pattern &graph, const Matching &perfect);

// The graph without entries that are in none.
template <class Value> BlockOf<Value> gallai_edmonds(BlockOf<Value> graph, const Matching &perfect);

} // namespace libperm
