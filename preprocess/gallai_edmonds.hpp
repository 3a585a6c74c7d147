// Entries of a graph that are in no perfect matching.
//
// Let M be a perfect matching, and take a line u out. Its partner alone is unmatched then, and an entry uv is
// in some perfect matching just where a path leads from the partner to v that goes along an entry outside M
// and one of M in turn, an even number in all: v is one of the lines that some largest matching of what is
// left leaves out (Gallai, Magyar Tud. Akad. Mat. Kut. Int. Kozl. 9, 1964; Edmonds, Canad. J. Math. 17,
// 1965).
#pragma once

#include "preprocess/block.hpp"
#include "preprocess/matching.hpp"

namespace libperm {

// Of each entry whether it may be in a perfect matching; where all have not been looked at within a bound of
// steps, which is linear, of the others, too.
std::vector<char> entries_in_matchings(const Pattern &graph, const Matching &perfect);

// The graph without entries that are in none.
template <class Value> BlockOf<Value> gallai_edmonds(BlockOf<Value> graph, const Matching &perfect);

} // namespace libperm
