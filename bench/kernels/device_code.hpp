// The texts of the benchmark's kernels: the files beside, embedded when it is built.
#pragma once

#include "jit/compile/kernels.hpp"

#include <string>
#include <vector>

namespace bench {

extern const char *const block_product_cuh;
extern const char *const diagonal_product_cuh;
extern const char *const factor_walk_cuh;
extern const char *const merge_path_cuh;
extern const char *const merge_product_cuh;
extern const char *const merge_sum_cuh;
extern const char *const product_rows_cuh;
extern const char *const product_tiles_cuh;
extern const char *const row_product_cuh;
extern const char *const tensor_tile_cuh;

// Kept under the digest of their own text: to edit it leaves the library's kernels as they are.
libperm::KernelRecipe kernels_of(std::string text, std::vector<std::string> entries);

} // namespace bench
