// The entries of a caller's small matrix, looked at as they are read.
#pragma once

#include <perm.h>

#include <cstddef>
#include <cstdint>

namespace libperm {

constexpr int most_lines_read = 64;

// put(k, i, j) for each entry k of the caller's, in row i and column j, of at most most_lines_read; false if
// the arrays are at fault.
template <class Index, class Put> bool for_each_entry(const perm_csr &a, const Put &put) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
    const auto *col = static_cast<const Index *>(a.col_idx);
    const auto rows = static_cast<Index>(a.n_rows), columns = static_cast<Index>(a.n_cols);
    if (row_ptr[0] != 0 || row_ptr[rows] != a.nnz) return false;
    for (Index i = 0; i < rows; ++i) {
        const Index begin = row_ptr[i], end = row_ptr[i + 1];
        if (begin > end || end > a.nnz) return false;
        std::uint64_t seen = 0;
        for (Index k = begin; k < end; ++k) {
            const Index j = col[k];
            if (j < 0 || j >= columns || seen >> j & 1) return false;
            seen |= std::uint64_t{1} << j;
            put(static_cast<std::size_t>(k), static_cast<int>(i), static_cast<int>(j));
        }
    }
    return true;
}

template <class Put> bool for_each_entry(const perm_csr &a, const Put &put) {
    return a.index_type == PERM_INDEX_I64 ? for_each_entry<std::int64_t>(a, put)
                                          : for_each_entry<std::int32_t>(a, put);
}

} // namespace libperm
