// The kernels of joins of two lists of states: what they depend on, and their parameters
// (jit/device/frontier_join.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/kernel/frontier_sparse.hpp"
#include "jit/number/state_numbers.hpp"

#include <cstdint>

namespace libperm {

struct JoinKernel {
    int words = 1; // of a key, 64 bits each
    StateNumbers numbers = true;
};

constexpr const char *join_fill_entry = "perm_join_fill", *join_copy_entry = "perm_join_copy",
                     *join_mark_entry = "perm_join_mark", *join_rank_entry = "perm_join_rank",
                     *join_sizes_entry = "perm_join_sizes", *join_spread_entry = "perm_join_spread",
                     *join_count_entry = "perm_join_count", *join_pairs_entry = "perm_join_pairs",
                     *join_most_entry = "perm_join_most", *join_multiply_entry = "perm_join_multiply",
                     *join_multiply_wide_entry = "perm_join_multiply_wide",
                     *join_take_entry = "perm_join_take";

KernelRecipe frontier_join_kernels(const JoinKernel &kernel);

constexpr unsigned join_threads = 256;     // of a block, at most
constexpr unsigned join_rank_words = 4;    // of a ranking's marks, a thread's of a tile
constexpr unsigned join_taken_targets = 4; // a thread's of a tile

// Targets of a thread where there are many: left ranks, right ranks.
struct JoinTile {
    unsigned height, width;
};
JoinTile join_tile(const StateNumbers &numbers);

// What follows stands in device/frontier_join.cuh as well.
constexpr unsigned join_weights = 32; // of a left pattern: its columns and the rows not in it

struct JoinBitRun {
    std::uint64_t word, from, to, mask;
};

struct JoinRanking {
    std::uint64_t marks, before, sets, words;
};

struct JoinSideTables {
    std::uint64_t keys, numbers, states, own_bits;
    std::uint64_t runs, run_count;
    std::uint64_t bits;
    JoinRanking patterns, own;
    std::uint64_t table, ranks, sizes;
};

struct JoinSearch {
    JoinRanking left, right;
    std::uint64_t left_patterns, left_sizes, right_sizes;
    std::uint64_t closing, staying, rows;
    std::uint64_t slices, by_subsets;
};

struct JoinReport {
    std::uint64_t products, states;
    double largest, smallest;
    std::uint64_t most_items;
};

struct JoinTargets {
    std::uint64_t left, right, left_ranks, right_ranks;
    std::uint64_t pairs, begins;
    std::uint64_t slices, patterns, first, rows;
    std::uint64_t sums;
    double prime, inverse;
};

struct JoinTaken {
    std::uint64_t pattern, left_own, right_own;
    std::uint64_t left_bits, right_bits;
    std::uint64_t keys, numbers, capacity;
};

} // namespace libperm
