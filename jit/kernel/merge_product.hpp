// The kernels of a sparse matrix times a vector, balanced by merge path (jit/device/merge_product.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <cstdint>

namespace libperm {

// What follows stands in device/merge_product.cuh as well.
constexpr int merge_items = 7, merge_threads = 256;

struct MergeMatrix {
    std::uint32_t rows, entries;
    std::uint64_t first, column, value, cuts; // addresses
    std::uint32_t tile;
};
struct MergeCarry {
    std::uint64_t state;
    double sum;
};
struct MergeChain {
    std::uint64_t launch;           // 1, 2, ...
    std::uint64_t next, done, sums; // addresses; the last is not used
};

// perm_merge_cut(matrix); perm_merge_product(matrix, x, y, carries, chain): a carry for each tile, cuts one
// more.
constexpr const char *merge_cut_entry = "perm_merge_cut", *merge_product_entry = "perm_merge_product";

KernelRecipe merge_product_kernels();

} // namespace libperm
