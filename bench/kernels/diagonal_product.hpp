// The kernels of a product of two matrices stored by diagonals (diagonal_product.cuh).
#pragma once

#include "jit/compile/kernels.hpp"

#include <cstdint>
#include <vector>

namespace bench {

// What follows stands in diagonal_product.cuh as well.
constexpr int diagonal_threads = 256, diagonal_row_threads = 8;

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

// Each takes a DiagonalProduct. Of matrices: for each of C's diagonals n / threads blocks, rounded up. Of a
// vector b, with A's diagonals as pairs: row_threads n / threads blocks, rounded up; first and lines are not
// used.
constexpr const char *hm_product_entry = "perm_hm_product", *cdm_product_entry = "perm_cdm_product",
                     *hm_vector_entry = "perm_hm_vector", *cdm_vector_entry = "perm_cdm_vector";

libperm::KernelRecipe diagonal_product_kernels();

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
std::vector<DiagonalPair> diagonal_pairs(DiagonalStorage storage, std::uint32_t n,
                                         const std::vector<std::int32_t> &a); // of A x
std::vector<DiagonalLine> diagonal_lines(DiagonalStorage storage, std::uint32_t n,
                                         const std::vector<std::int32_t> &diagonals);

} // namespace bench
