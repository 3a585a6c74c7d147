// The kernels of the dense frontier: of a row's entries at most so many lie in low slots, make the blocks of
// a cube with their columns, and lie in other high slots (jit/device/frontier_dense.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/number/state_numbers.hpp"

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

} // namespace libperm
