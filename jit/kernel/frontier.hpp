// The kernels of the frontier: of its dense form, of its sparse form, and of joins of two lists of states;
// what they depend on, and their parameters.
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/number/arithmetic.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace libperm {

struct RowShape {
    int low = 0, high = 0; // entries
    friend auto operator<=>(const RowShape &, const RowShape &) = default;
};

struct CubeKernel {
    int low = 0, cube = 0, others = 0;
    friend auto operator<=>(const CubeKernel &, const CubeKernel &) = default;
};

int most_cube(const StateNumbers &numbers);     // as many as registers hold the numbers of
std::string entry_of(const CubeKernel &kernel); // "perm_row_2_4_0"

KernelRecipe dense_frontier_kernel(const StateNumbers &numbers, const CubeKernel &kernel);

// What follows stands in device/frontier_dense.cuh as well.
constexpr int dense_low_slots = 12, dense_threads = 256, dense_least_threads = 32, dense_chunk_bits = 12;
constexpr int dense_most_cube = 4;
constexpr int dense_most_high = 28; // slots; beyond it even slices are too many
constexpr std::uint16_t dense_no_place = 0xffff;

struct alignas(16) DenseHighSet {
    std::uint32_t to = 0, from = 0, present = 0, unused = 0;
};

struct DenseRow {
    std::uint64_t from, to, places, high, ranks, extent;
    std::uint64_t from_begin[dense_most_high + 1], to_begin[dense_most_high + 1];
    std::uint32_t from_sets[dense_low_slots + 1], to_sets[dense_low_slots + 1];
    std::uint32_t list_begin[dense_low_slots + 2];
    std::uint32_t list_size;
    std::int32_t from_low, to_low;
    std::int32_t from_weight, to_weight;
    std::int32_t cube_bits, parts_log2, numbers_log2, cube_terms;
    std::uint32_t cube_opening, cube_closing;
    std::uint32_t cube_to[dense_most_cube], cube_from[dense_most_cube];
    std::uint32_t opening;
    std::uint32_t from_bit[dense_most_high];
    std::int32_t places_move;
    std::int32_t low_terms;
    double prime, inverse;
    // Of low entries, then of high ones from place dense_low_slots on: coefficient_doubles() each.
    double coefficients[(dense_low_slots + dense_most_high) * most_coefficient_doubles];
};

// The kernels of the sparse frontier: what they depend on, and their parameters
// (jit/device/frontier_sparse.cuh).

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

// The kernels of joins of two lists of states: what they depend on, and their parameters
// (jit/device/frontier_join.cuh).

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
