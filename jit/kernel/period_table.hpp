// The kernels that carry a period's table along, row by row, in place (jit/device/period_table.cuh).
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/kernel/frontier.hpp"

#include <cstdint>
#include <string>

namespace libperm {

// What follows stands in device/period_table.cuh as well.
constexpr int table_low = 12, table_high = 28; // slots
constexpr int table_chunk = 12;                // bits of a block's number, looked up at once
constexpr std::uint16_t table_no_place = 0xffff;
constexpr int table_threads = 256, table_warp = 32;

struct TableRow {
    std::uint64_t table, places, high_sets, ranks; // addresses
    std::uint64_t begin[table_high + 1];
    std::uint32_t sets[table_low + 1];
    std::uint32_t list_begin[table_low + 2];
    std::int32_t low, used;
    std::int32_t number_bits;
    std::int32_t parts_log2; // of a block for each warp
    std::uint32_t pivot_high;
    std::int32_t pivot_low;
    std::int32_t low_terms, high_terms, is_kept;
    std::uint32_t high_bit[table_high];
    double prime, inverse;
    // Of p: a_kept of perm_table_row, a_opened of perm_table_open; then of low entries, of high ones from
    // place 1 + table_low on: coefficient_doubles() each.
    double coefficients[(1 + table_low + table_high) * most_coefficient_doubles];
};

std::string table_entry_of(RowShape shape); // "perm_table_row_3_4": no more low and high entries than these
constexpr const char *table_open_entry = "perm_table_open", *table_begin_entry = "perm_table_begin",
                     *table_bracket_entry = "perm_table_bracket";

KernelRecipe period_table_row_kernel(const StateNumbers &numbers, RowShape shape);
KernelRecipe
period_table_kernel(const StateNumbers &numbers); // the others; brackets of nonnegative doubles alone

// What perm_table_bracket finds of numbers x and what periods made of them, y.
struct TableBracket {
    std::uint64_t least, most;  // bits of y / x, where x > 0
    std::uint64_t fresh, zeros; // states where y alone is > 0; where neither is
};

} // namespace libperm
