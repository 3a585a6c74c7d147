// The kernels of a product of two matrices stored by diagonals (jit/device/diagonal_product.cuh).
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
struct DiagonalLine {
    std::uint32_t low, rows, at;
};
struct DiagonalProduct {
    std::uint32_t n, diagonals;
    std::uint64_t a, b, c, first, pairs, lines; // addresses
};

enum class DiagonalStorage { hm, cdm };

// Each (product): for each of C's diagonals n / threads blocks, rounded up.
constexpr const char *hm_product_entry = "perm_hm_product", *cdm_product_entry = "perm_cdm_product";
inline const char *diagonal_product_entry(DiagonalStorage storage) {
    return storage == DiagonalStorage::hm ? hm_product_entry : cdm_product_entry;
}

KernelRecipe diagonal_product_kernels();

// Which diagonals C has, ascending, where they are stored, and of which each comes. Diagonals of A and B
// ascend: -n < d < n in HM, 0 <= d < n in CDM. Fewer than 2^32 numbers are stored.
struct DiagonalPlan {
    std::vector<std::int32_t> diagonals;
    std::vector<std::uint32_t> first{0};
    std::vector<DiagonalPair> pairs;
    std::vector<DiagonalLine> lines;
    std::uint64_t stored = 0; // numbers of C
};
DiagonalPlan diagonal_plan(DiagonalStorage storage, std::uint32_t n, const std::vector<std::int32_t> &a,
                           const std::vector<std::int32_t> &b);
DiagonalPlan diagonal_plan_of_vector(DiagonalStorage storage, std::uint32_t n,
                                     const std::vector<std::int32_t> &a); // C = A x
std::vector<DiagonalLine> diagonal_lines(DiagonalStorage storage, std::uint32_t n,
                                         const std::vector<std::int32_t> &diagonals);

} // namespace libperm
