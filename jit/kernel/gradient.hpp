// The kernel that sums all derivatives of dense permanents on a GPU (jit/device/gradient.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/number/arithmetic.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

inline constexpr const char *gradient_entry = "perm_gradients", *gradient_add_entry = "perm_gradients_add";
constexpr unsigned gradient_threads_of_block = 128;

// Of matrices of so many kinds of rows, at least 2; real or complex, on one grid or two.
KernelRecipe gradient_kernel(int rows, Arithmetic arithmetic);

// Columns whose walks are as long as a piece can be: of fewer no kernel is made.
constexpr int least_gradient_columns_on_device(Arithmetic arithmetic) {
    return is_complex(arithmetic) ? 11 : 12;
}
constexpr int gradient_pieces_of_warp(Arithmetic arithmetic) { return is_complex(arithmetic) ? 2 : 1; }

// Of a block: row sums of its lanes' columns, and of the others for each piece.
std::size_t gradient_shared_bytes(int rows, Arithmetic arithmetic, unsigned threads);

// Doubles of a piece under way, and of what it comes to; of a task's sums, which lie by columns, parts, sums
// and what they have lost, rows; then the absolute values by rows, and the terms with all factors: each
// part's sum and what it has lost, the absolute values.
std::size_t gradient_scratch_doubles(int rows, Arithmetic arithmetic);
std::size_t gradient_piece_doubles(int rows, Arithmetic arithmetic);
std::size_t gradient_task_doubles(int rows, int columns, Arithmetic arithmetic);
// Of these, without what they have lost: each is a thread's to add up.
std::size_t gradient_task_sums(int rows, int columns, Arithmetic arithmetic);

// What follows stands in device/gradient.cuh as well.
struct GradientLaunch {
    std::uint64_t entries, row_count, scratch, pieces, sums;
    std::uint64_t per_task, first, count;
    std::uint32_t matrices, tasks, columns, repeated;
};

} // namespace libperm
