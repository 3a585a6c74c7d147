// Lines of a graph with one or two entries taken out until there are none.
//
// A line of degree 1 takes its neighbour with it, or goes by its loop. One of degree 2, with neighbours a and
// b, makes one line of these: it is matched to a, and b to another, or the other way round. One with a loop
// and one neighbour leaves that matched, which is a loop of it, or not. No line is gained, nor an entry.
#pragma once

#include "preprocess/compression.hpp"

namespace libperm {

template <class Value> Compression<Value> compress_graph(BlockOf<Value> graph, const CompressionRule &rule);

} // namespace libperm
