// The kernels of matchings: drawn at random, and in tables over all sets of lines that wait; the same for
// all matrices.
#pragma once

#include "jit/compile/kernels.hpp"

#include <array>
#include <cstdint>

namespace libperm {

constexpr const char *draw_entry = "perm_draw_matchings", *tally_entry = "perm_tally_bets";

KernelRecipe matching_walk_kernels();

// Threads of a block at most, and how many entries a step is filled up to a multiple of.
constexpr unsigned draw_threads = 128, tally_threads = 256, entries_together = 4;

// What follows stands in device/matching_walk.cuh as well.
struct alignas(16) DrawEntry {
    double weight = 0;
    std::uint32_t word = 0, bit = 0; // of the rows that are left; no bit: filled up
};

struct DrawLaunch {
    std::uint64_t entries, first, samples; // addresses
    std::uint64_t seed, sample, count;
    std::uint32_t steps, rows;
};

struct TallyLaunch {
    std::uint64_t samples, bets, told; // addresses
    std::uint32_t chunks, bet_count;
};

// Each thread of a block holds a bit for each row.
constexpr std::size_t draw_shared_bytes(std::int32_t rows, unsigned threads) {
    return std::size_t{4} * threads * ((static_cast<std::size_t>(rows) + 31) / 32);
}

// The kernels of tables over sets of lines (jit/device/set_tables.cuh): for all patterns the same.

namespace set_entry {
constexpr const char *meet = "perm_sets_meet", *back = "perm_sets_back", *products = "perm_sets_products",
                     *close = "perm_sets_close", *open = "perm_sets_open", *without = "perm_sets_without",
                     *most = "perm_sets_most", *multiply = "perm_sets_multiply";
} // namespace set_entry

KernelRecipe set_table_kernels();

constexpr unsigned set_threads = 256; // of a block at most

// What follows stands in device/set_tables.cuh as well. Addresses of tables and sums are the device's.
constexpr int set_low_lines = 6, set_most_high = 27; // within a block of sets, above at most
constexpr std::uint64_t set_chunk_sets = 256 * 64;   // whose products are one sum

struct SetStepLaunch {
    std::uint64_t from, to, before, sums;
    std::uint64_t sets, opened;
    double stays;
    std::array<double, set_low_lines> low;
    std::array<double, set_most_high> high;
    std::array<std::uint64_t, set_most_high> high_bit;
    std::uint32_t high_lines;
};

struct SetLineLaunch {
    std::uint64_t from, to, numbers, sets, bit;
    double unmatched;
};

struct SetPairLaunch {
    std::uint64_t x, y, sums, sets, bit;
};

struct SetWholeLaunch {
    std::uint64_t table, most, sets;
    double by;
};

} // namespace libperm
