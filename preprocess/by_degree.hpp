// The rows of a pattern, those with fewer entries first; in their order where they have as many.
#pragma once

#include "preprocess/pattern.hpp"

#include <algorithm>

namespace libperm {

// O(nnz), by counting.
inline std::vector<std::int32_t> rows_by_degree(const Pattern &a) {
    std::size_t most = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) most = std::max(most, a.row(i).size());
    std::vector<std::int32_t> next(most + 2, 0), rows(static_cast<std::size_t>(a.rows));
    for (std::int32_t i = 0; i < a.rows; ++i) ++next[a.row(i).size() + 1];
    for (std::size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
    for (std::int32_t i = 0; i < a.rows; ++i) rows[static_cast<std::size_t>(next[a.row(i).size()]++)] = i;
    return rows;
}

} // namespace libperm
