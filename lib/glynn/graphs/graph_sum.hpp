// A small graph's hafnian by engine `bjorklund`'s sums, straight from its numbers.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/graphs/small_graph.hpp"

namespace libperm {

// In doubles; up to six lines, where nothing else is asked for and the tolerance is not met, in twice their
// precision, rounded. False: this is not for it.
bool sum_graph(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out);

// Whether the sum comes first: of few lines, or of most of their pairs.
bool is_small_and_dense(const Pattern &graph);

} // namespace libperm
