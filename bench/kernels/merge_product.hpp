// The kernels of a sparse matrix times a vector, balanced by merge path (merge_product.cuh).
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>

namespace bench {

// What follows stands in merge_product.cuh as well.
constexpr int merge_items = 7, merge_threads = 256;

struct MergeMatrix { // rows + entries < 2^32
    std::uint32_t rows, entries;
    std::uint64_t first, column, value, cuts; // addresses
    std::uint32_t tile;
};
struct MergePart {
    double head, tail;
    std::uint64_t arrived; // 0 before the first launch
};

// perm_merge_cut(matrix), once for a matrix; perm_merge_product(matrix, x, y, parts): a part for each tile,
// cuts one more.
constexpr const char *merge_cut_entry = "perm_merge_cut", *merge_product_entry = "perm_merge_product";

libperm::KernelRecipe merge_product_kernels();

} // namespace bench
