// A small symmetric matrix as a graph of doubles, as the caller gave it.
#pragma once

#include "lib/bjorklund/doubles.hpp"
#include "lib/input/matrix_function.hpp"

#include <perm.h>

namespace libperm {

struct SmallGraph {
    DoublesGraph graph;      // no entry is 0
    bool is_integer = false; // given as int64, or as a pattern
};

constexpr int most_copied_lines = 12; // of lines that repeat: more are sooner counted than copied

// False for what is no such matrix: not symmetric (lib/input/graph.hpp), too large, of numbers that are no
// doubles, or at fault. The general road tells which.
bool read_graph(const perm_csr &a, MatrixFunction function, SmallGraph &out);

// Reads values that stand row by row, n in each.
bool read_full_graph(const void *values, perm_value_type type, int n, MatrixFunction function,
                     SmallGraph &out);

} // namespace libperm
