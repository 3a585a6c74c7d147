// A symmetric matrix as a graph, whose lines are matched to each other: what hafnians are of.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/input/written_out.hpp"

namespace libperm {

struct Values;

// What is computed of a matrix: the sum over matchings of its rows to its columns; of its lines to each
// other; of these where a line may also stay single, at the price of its loop.
enum class MatrixFunction { permanent, hafnian, loop_hafnian };
inline const char *function_name(MatrixFunction function) {
    return function == MatrixFunction::permanent ? "permanent"
           : function == MatrixFunction::hafnian ? "hafnian"
                                                 : "loop_hafnian";
}

// `pattern` is one-sided: the entries above the diagonal, and the loops. `count`: copies of a line are
// matched to each other by its entry on the diagonal, which is a loop, too, of a loop hafnian, where the
// caller gave no weights of leaving rows unmatched: these are the loops, else. Throws Error (PERM_BAD_MATRIX)
// for what is not symmetric.
InputPattern as_graph(InputPattern given, const LineCounts &count, bool has_loops, const Poll &poll);

// The values of both halves, in the order of `given`, are equal but for rounding: of numbers that are exact,
// equal. What stands in one half alone is 0. Throws Error (PERM_BAD_MATRIX), which tells by how much they
// differ, and where.
void require_symmetric(const InputPattern &given, const Values &values, const Poll &poll);

} // namespace libperm
