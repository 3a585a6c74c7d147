// Maximum bipartite matching (Hopcroft and Karp, SIAM J. Comput. 2, 1973): the structural rank. Of graphs a
// perfect one (Edmonds, Canad. J. Math. 17 (1965)).
#pragma once

#include "preprocess/pattern.hpp"

#include <optional>

namespace libperm {

struct Matching {
    std::int32_t size = 0;
    std::vector<std::int32_t> col_of_row; // -1: unmatched
    std::vector<std::int32_t> row_of_col;
};

// O(nnz sqrt(n)). A square matrix with size < n has no perfect matching: its permanent is 0.
Matching maximum_matching(const Pattern &a);

// Of rows to columns, or of a graph: its lines to each other, or to themselves by loops, and both lists say
// of each line the other. None: there is none.
std::optional<Matching> perfect_matching(const Pattern &a);
bool has_perfect_matching(const Pattern &a);

} // namespace libperm
