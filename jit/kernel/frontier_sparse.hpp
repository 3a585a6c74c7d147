// The kernels of the sparse frontier: what they depend on, and their parameters
// (jit/device/frontier_sparse.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/number/state_numbers.hpp"

#include <cstdint>

namespace libperm {

struct SparseKernel {
    int words = 1; // of a key, 64 bits each
    StateNumbers numbers = true;
    bool counts = false;  // some counter of the key is wider than a bit
    bool entries = false; // a step may take a single entry, whose row waits as its column does
};

constexpr const char *sparse_row_entry = "perm_frontier_row", *sparse_count_entry = "perm_frontier_count";

KernelRecipe sparse_frontier_kernels(const SparseKernel &kernel);

// A block's threads, at most; and what each takes of a tile: as many as its keys have room in shared memory.
struct SparseTile {
    unsigned threads, items;
};
SparseTile sparse_tile(int words);

// What follows stands in device/frontier_sparse.cuh and device/chained_tiles.cuh as well.
struct SparseList {
    std::uint64_t keys, numbers;
};

struct SparseTerm {
    std::uint64_t one, mask, full;
    std::uint64_t word, shift;
    std::uint64_t other, other_word;
};

struct SparseClosing {
    std::uint64_t mask, full, word;
};

struct SparseFloor {
    std::uint64_t mask, least, word;
};

struct SparseRow {
    std::uint64_t states, terms, closings, floors;
    std::uint64_t term, closing, floor;
    std::uint64_t coefficients;
    double prime, inverse;
};

struct SparseReport {
    std::uint64_t candidates, states;
    double largest, smallest;
};

struct TileChain {
    std::uint64_t launch, next, done, sums;
};
constexpr std::uint64_t most_chained_launches = (std::uint64_t{1} << 23) - 1;

} // namespace libperm
