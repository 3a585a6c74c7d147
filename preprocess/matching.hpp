// Maximum bipartite matching (Hopcroft and Karp, SIAM J. Comput. 2, 1973): the structural rank.
#pragma once

#include "preprocess/pattern.hpp"

namespace libperm {

struct Matching {
    std::int32_t size = 0;
    std::vector<std::int32_t> col_of_row; // -1: unmatched
    std::vector<std::int32_t> row_of_col;
};

// O(nnz sqrt(n)). A square matrix with size < n has no perfect matching: its permanent is 0.
Matching maximum_matching(const Pattern &a, const Poll &poll = no_poll);

} // namespace libperm
