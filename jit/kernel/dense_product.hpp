// The kernels of products of full matrices (jit/device/dense_product.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <cstdint>

namespace libperm {

// What follows stands in device/dense_product.cuh as well.
constexpr unsigned dense_product_threads = 256;
constexpr std::uint32_t dense_rows = 128, dense_columns = 64; // of a block

struct DeviceDenseProduct {
    std::uint64_t a, b, c; // addresses
    std::uint32_t rows, inner, columns, a_pitch, b_pitch, adds;
    double sign;
};
constexpr std::uint32_t dense_pitch(std::size_t columns) { // of a row
    return static_cast<std::uint32_t>((columns + 7) / 8 * 8);
}

// perm_dense_product(product): ceil(rows / dense_rows) ceil(columns / dense_columns) blocks;
// perm_dense_largest(x, count, most), perm_dense_scale(x, count, one factor, the other): any number.
constexpr const char *dense_product_entry = "perm_dense_product", *dense_largest_entry = "perm_dense_largest",
                     *dense_scale_entry = "perm_dense_scale";

KernelRecipe dense_product_kernels();

} // namespace libperm
