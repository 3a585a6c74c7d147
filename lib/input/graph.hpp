// A symmetric matrix as a graph, whose lines are matched to each other: what hafnians are of.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "preprocess/limits.hpp"

#include <perm.h>

#include <optional>

namespace libperm {

// `pattern` is one-sided: the entries above the diagonal, and the loops. `count`: copies of a line are
// matched to each other by its entry on the diagonal, which is a loop, too, of a loop hafnian, where the
// caller gave no weights of leaving rows unmatched: these are the loops, else. Throws Error (PERM_BAD_MATRIX)
// for what is not symmetric.
InputPattern as_graph(InputPattern given, const LineCounts &count, bool has_loops,
                      MemoryAccount *account = nullptr);

// The graph of a matrix whose rows and columns may all stay unmatched, at the weights that `given` has: its
// lines are the rows, then the columns, each with a loop. The sum over the matrix's matchings is its loop
// hafnian. Nothing is written out but the entries.
InputPattern as_two_sided_graph(InputPattern given, const LineCounts &row_count,
                                const LineCounts &column_count, MemoryAccount *account = nullptr);

// Of a matrix with few entries where all lines may stay unmatched, as the caller gave it; else none.
std::optional<InputPattern> read_as_two_sided_graph(const perm_csr *a, MemoryAccount *account = nullptr);

// The values of both halves, in the order of `given`, are equal but for rounding: of numbers that are exact,
// equal. What stands in one half alone is 0. Throws Error (PERM_BAD_MATRIX), which tells by how much they
// differ, and where.
void require_symmetric(const InputPattern &given, const Values &values);

// Of values that are so, those of the lower half become those of the upper.
void mirror_upper_half(const InputPattern &given, Values &values);

} // namespace libperm
