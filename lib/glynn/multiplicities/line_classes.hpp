// A small matrix of a few kinds of rows and columns, each repeated.
#pragma once

#include "jit/lanes/count_sum.hpp"
#include "lib/glynn/small_grid.hpp"
#include "lib/input/matrix.hpp"

#include <cstdint>
#include <optional>

namespace libperm {

// Lines that are repeated 0 times are left out; it is transposed if that makes fewer terms.
struct SmallLineClasses {
    SmallMatrix matrix; // with zeros in the rows and columns that make it square
    int columns = 0;
    RowCounts row_count;
    std::array<int, most_small_order> column_count{}; // the largest first
    std::int64_t nnz = 0;                             // of the matrix written out
    double terms = 0;
};

// False for what has no multiplicities, more terms than take a moment, or is not doubles, not finite or at
// fault: the general road tells which.
bool read_line_classes(const perm_csr &a, SmallLineClasses &out);

// How many terms a matrix of this pattern has whose doubles are not 0; none if it is not for this sum.
std::optional<double> terms_of_line_classes(const InputPattern &input);

} // namespace libperm
