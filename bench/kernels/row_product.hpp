// The kernels of a sparse matrix times a dense one, row by row (row_product.cuh).
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>

namespace bench {

// What follows stands in row_product.cuh as well.
constexpr unsigned row_product_threads = 256; // at most; a warp for each row and 128 lanes

struct RowProduct {
    std::uint64_t first, column, value, x, y;
    std::uint32_t rows, lanes, products;
    double prime, inverse;
};

constexpr const char *row_product_entry = "row_product", *row_residues_entry = "row_residues";

libperm::KernelRecipe row_product_kernels();

} // namespace bench
