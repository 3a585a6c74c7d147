// Rows of like patterns brought together, so that what they have makes dense blocks: 1-SA.
#pragma once

#include "preprocess/limits.hpp"

#include <cstdint>
#include <vector>

namespace bench {

// Rows group by group; group g is row[first[g]] ... row[first[g + 1] - 1], its pattern's blocks of columns in
// all of them or some.
struct RowGroups {
    std::vector<std::uint32_t> row, first{0};
};

// A row joins a group if its blocks of `width` columns are like the group's (Jaccard's similarity >= tau),
// and the group's pattern is then at most 1 / (1 - tau / 2) times its first row's: so that at least tau /
// (2 width) of a group's blocks are entries (Sylos Labini, Bernaschi, Silvestri, Vella, "Blocking Techniques
// for Sparse Matrix Multiplication on Tensor Accelerators", Algorithm 2, Theorem 1). Rows are met in their
// order; columns are ascending in each.
RowGroups similar_rows(const std::vector<std::uint32_t> &first, const std::vector<std::uint32_t> &column,
                       std::uint32_t columns, std::uint32_t width, double tau);

} // namespace bench
