// The kernels of the sum of two sparse matrices, balanced by merge path (merge_sum.cuh).
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>

namespace bench {

// What follows stands in merge_sum.cuh as well.
constexpr int sum_items = 7, sum_threads = 256;

struct SumRows {
    std::uint32_t rows, entries;
    std::uint64_t first, column; // addresses
};
struct SumPairs {
    std::uint64_t size;
    std::uint64_t key, value; // addresses
};
struct SparseSum {
    std::uint32_t rows;
    std::uint64_t first, column, value; // addresses
};
struct SumChain {
    std::uint64_t launch;           // 1, 2, ...
    std::uint64_t next, done, sums; // addresses; a sum for each tile
};

// perm_merge_pairs(rows, keys): threads times items entries a block. perm_merge_sum(a, b, c, chain): as many
// pairs of both together, at least one.
constexpr const char *merge_pairs_entry = "perm_merge_pairs", *merge_sum_entry = "perm_merge_sum";

libperm::KernelRecipe merge_sum_kernels();

} // namespace bench
