// The kernels that carry many starts through the levels of an operator (jit/device/period_walk.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <cstdint>

namespace libperm {

// What follows stands in device/period_walk.cuh as well.
constexpr int walk_warp = 32, walk_threads = 256, walk_together = 4;

struct WalkLevel {
    std::uint64_t from, to, first, moves, sources, entries; // addresses
    std::uint32_t states, lanes;
    double prime, inverse;
};

constexpr const char *walk_moves_entry = "perm_walk_moves", *walk_ones_entry = "perm_walk_ones",
                     *walk_begin_entry = "perm_walk_begin", *walk_pick_entry = "perm_walk_pick";

KernelRecipe period_walk_kernels(); // modulo primes below 2^47

} // namespace libperm
