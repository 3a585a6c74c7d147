// The kernel that sums hafnians over signs of pairs of lines (jit/device/hafnian_sum.cuh): one for each
// arithmetic.
#pragma once

#include "jit/compile/kernel_recipe.hpp"
#include "jit/number/hafnian_number.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace libperm {

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
