// A small graph's hafnian straight from its numbers: by engine `bjorklund`'s sums or, where lines repeat, by
// engine `hermite`'s recurrence.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/graphs/small_graph.hpp"

namespace libperm {

// In doubles; if no precision is asked for, where the tolerance is not met, or without repeats of up to six
// lines, in numbers of more digits, rounded. False: this is not for it.
bool sum_graph(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out);

// Whether the sum comes first: of few lines, or of most of their pairs.
bool is_small_and_dense(const Pattern &graph);

} // namespace libperm
