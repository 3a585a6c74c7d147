// The kernels that sum products with each factor left out on a GPU (jit/device/left_out.cuh): all derivatives
// of dense permanents (gradient.cuh), or the sub-permanents of a line (minors.cuh).
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/number/arithmetic.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

inline constexpr const char *left_out_entry = "perm_left_out", *left_out_add_entry = "perm_left_out_add";
constexpr unsigned left_out_threads = 128; // of a block at most

enum class LeftOut : std::uint8_t { gradients, minors };

// Of matrices of so many kinds of rows, at least 2, and columns that count once; real or complex, on one grid
// or two. The kernel is the same for any number of columns.
struct LeftOutKernel {
    LeftOut what;
    int rows, columns;
    Arithmetic arithmetic;

    KernelRecipe recipe() const;

    std::size_t pieces_of_warp() const { return is_complex(arithmetic) ? 2 : 1; }
    // Of a block: row sums of its lanes' columns, and of the others for each piece, and what pieces keep
    // near.
    std::size_t shared_bytes(unsigned threads) const;

    // Of a piece under way; of what it comes to; of a task's sums. These lie by columns (of minors there is
    // one), parts, sums and what they have lost, rows; then the absolute values by rows; of gradients then
    // the terms with all factors: each part's sum and what it has lost, the absolute values.
    std::size_t scratch_doubles() const;
    std::size_t piece_doubles() const;
    std::size_t task_doubles() const;
    // Of these, without what they have lost: each is a thread's to add up.
    std::size_t task_sums() const;

    int sum_columns() const { return what == LeftOut::gradients ? columns : 1; }
    bool has_whole() const { return what == LeftOut::gradients; }
};

// Of fewer columns, whose walks are no whole piece, no kernel is made.
constexpr int least_left_out_columns = 12;

// What follows stands in device/left_out.cuh as well.
struct LeftOutLaunch {
    std::uint64_t entries, row_count, scratch, pieces, sums;
    std::uint64_t per_task, first, count;
    std::uint32_t matrices, tasks, columns, repeated, steps, first_task;
};

} // namespace libperm
