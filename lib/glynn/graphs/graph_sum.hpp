// A small graph's hafnian straight from its numbers: by engine `bjorklund`'s sums or, where lines repeat, by
// engine `hermite`'s recurrence.
#pragma once

#include "lib/glynn/dense_sum.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/run/engine_input.hpp"
#include "preprocess/repeated_lines.hpp"

#include <perm.h>

#include <vector>

namespace libperm {

// A small symmetric matrix as a graph of doubles, as the caller gave it.
struct SmallGraph {
    DoublesGraph graph;
    bool is_integer = false; // given as int64, or as a pattern
    // Where lines repeat: how often each. The graph has two lines of such a one, one behind the other.
    std::vector<EqualLines> kinds = {};
};

// False for what is no such matrix: not symmetric (lib/input/graph.hpp), too large, of numbers that are no
// doubles, or at fault. The general road tells which.
bool read_graph(const perm_csr &a, MatrixFunction function, SmallGraph &out);

// Reads values that stand row by row, n in each.
bool read_full_graph(const void *values, perm_value_type type, int n, MatrixFunction function,
                     SmallGraph &out);

// In doubles; if no precision is asked for, where the tolerance is not met, or without repeats of up to six
// lines, in numbers of more digits, rounded. False: this is not for it.
bool sum_graph(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out);

// Whether the sum comes first: of few lines, or of most of their pairs.
bool is_small_and_dense(const Pattern &graph);

} // namespace libperm
