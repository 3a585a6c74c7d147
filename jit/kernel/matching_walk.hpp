// The kernels that draw matchings at random and tell what bets need to know of them
// (jit/device/matching_walk.cuh, bet_tally.cuh): for all matrices the same.
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <cstdint>

namespace libperm {

constexpr const char *draw_entry = "perm_draw_matchings", *tally_entry = "perm_tally_bets";

KernelRecipe matching_walk_kernels();

// Threads of a block at most, and how many entries a step is filled up to a multiple of.
constexpr unsigned draw_threads = 128, tally_threads = 256, entries_together = 4;

// What follows stands in device/matching_walk.cuh and device/bet_tally.cuh as well.
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

} // namespace libperm
