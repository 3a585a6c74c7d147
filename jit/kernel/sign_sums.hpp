// The kernels that sum over signs on a GPU: products with each factor left out, and hafnians.
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/number/arithmetic.hpp"

#include <array>
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

// The kernel that sums hafnians over signs of pairs of lines (jit/device/hafnian_sum.cuh): one for each
// arithmetic.

constexpr const char *hafnian_entry = "perm_hafnian_walks";
// On an H100, of 32 to 128 threads and 12 to 48 KB: threads of a block at most, blocks that a
// multiprocessor's registers leave room for, and bytes of its memory that each may have.
constexpr unsigned hafnian_threads = 128, hafnian_blocks = 4;
constexpr std::size_t hafnian_near_bytes = 49152;

KernelRecipe hafnian_kernel(Arithmetic arithmetic);

// What follows stands in device/hafnian_sum.cuh as well.
constexpr int most_hafnian_levels = 32, hafnian_lane_bits = 3;

struct HafnianLaunch {
    std::uint64_t entries, errors, pieces, room, told; // addresses
    std::uint64_t room_doubles, count;
    double prime;
    std::uint32_t pairs, has_loops, piece_bits, first_near;
    std::array<std::uint32_t, most_hafnian_levels> place;
};

struct HafnianShape {
    Arithmetic arithmetic;
    int pairs;
    bool has_loops;
    int piece_bits; // signs that tell pieces from each other
};

// Where a block of threads has its nodes: from the last level on near, as many as fit.
struct HafnianPlaces {
    std::uint32_t first_near;
    std::array<std::uint32_t, most_hafnian_levels> place;
    std::size_t room_doubles, shared_bytes;

    HafnianPlaces(const HafnianShape &of, std::size_t most_shared);
};

constexpr std::size_t hafnian_told_doubles(Arithmetic a) { // of a lane
    return static_cast<std::size_t>(parts_of(a)) + 1;
}

} // namespace libperm
