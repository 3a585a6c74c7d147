// A small symmetric matrix as a graph of doubles, as the caller gave it.
#pragma once

#include "lib/input/matrix_function.hpp"
#include "lib/run/doubles_graph.hpp"
#include "preprocess/repeated_lines.hpp"

#include <perm.h>

#include <vector>

namespace libperm {

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

} // namespace libperm
