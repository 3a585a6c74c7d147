// The kernels of a product of two sparse matrices (product_tiles.cuh, product_rows.cuh), and their
// launches.
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>

namespace bench {

// What follows stands in product_tiles.cuh and product_rows.cuh as well.
constexpr int product_items = 7, product_threads = 256, product_windows = 256;

struct ProductCut {
    std::uint32_t entry, row;
};
struct ProductWindow {
    std::uint32_t size, place, count;
};
struct MatrixProduct {
    std::uint32_t rows, entries;              // of A
    std::uint64_t a_first, a_column, a_value; // addresses, as all that follow
    std::uint64_t b_first, b_column, b_value;
    std::uint64_t sums, before;
    std::uint32_t products;
    std::uint64_t cuts, column, value, size, begin, end, shared, shared_column, shared_value, window;
    std::uint64_t c_first, c_column, c_value;
};

// All take a MatrixProduct, and blocks of as many threads. perm_product_lengths and perm_product_places: a
// block for each tile of A's entries; perm_product_cuts: a thread for each tile of products and one more;
// perm_product_tiles, perm_product_rows, perm_product_write: a block for each of these; perm_product_sizes
// and perm_product_firsts: a block for each tile of rows.
constexpr const char *product_lengths_entry = "perm_product_lengths",
                     *product_places_entry = "perm_product_places", *product_cuts_entry = "perm_product_cuts",
                     *product_tiles_entry = "perm_product_tiles", *product_rows_entry = "perm_product_rows",
                     *product_sizes_entry = "perm_product_sizes",
                     *product_firsts_entry = "perm_product_firsts",
                     *product_write_entry = "perm_product_write";

libperm::KernelRecipe matrix_product_kernels();

} // namespace bench
