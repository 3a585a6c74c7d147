// The kernel of a product of two matrices stored by diagonals (jit/device/diagonal_product.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// What follows stands in device/diagonal_product.cuh as well.
constexpr int diagonal_threads = 256;

struct DiagonalPair {
    std::uint32_t a, b, shift;
};
struct DiagonalProduct {
    std::uint32_t n, diagonals;
    std::uint64_t a, b, c, first, pairs; // addresses
};

// perm_diagonal_product(product): for each of C's diagonals n / threads blocks, rounded up.
constexpr const char *diagonal_product_entry = "perm_diagonal_product";

KernelRecipe diagonal_product_kernel();

// Which diagonals C has, 0 .. n - 1 ascending, and of which each comes, from those of A and B.
struct DiagonalPairs {
    std::vector<std::uint32_t> diagonals, first{0};
    std::vector<DiagonalPair> pairs;
};
DiagonalPairs diagonal_pairs(std::uint32_t n, const std::vector<std::uint32_t> &a,
                             const std::vector<std::uint32_t> &b);

} // namespace libperm
