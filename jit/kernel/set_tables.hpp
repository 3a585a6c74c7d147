// The kernels of tables over sets of lines (jit/device/set_tables.cuh): for all patterns the same.
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <array>
#include <cstdint>

namespace libperm {

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
