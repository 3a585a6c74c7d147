// A small matrix of a few kinds of rows and columns, each repeated.
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "lib/small/fixed_columns.hpp"

#include <cstdint>

namespace libperm {

// Without what is repeated 0 times; transposed if that makes fewer terms.
struct SmallKinds {
    DenseMatrix matrix; // with zeros in the rows and columns that make it square
    int columns = 0;
    RowCounts row_count;
    std::array<int, most_small_order> column_count{}; // the largest first
    std::int64_t nnz = 0;                             // of the matrix written out
    double terms = 0;
};

// False for what has no multiplicities, more terms than take a moment, or is not doubles, not finite or at
// fault: the general road tells which.
bool read_kinds(const perm_csr &a, SmallKinds &out);

} // namespace libperm
