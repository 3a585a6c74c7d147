// The kernel of engine `sieve`, written for a program (jit/program/sieve.hpp; jit/device/sieve_walk.cuh).
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/program/sieve.hpp"

#include <cstddef>
#include <cstdint>

namespace libperm {

constexpr const char *sieve_entry = "perm_sieve_walk";
constexpr unsigned sieve_threads = 32;                             // of a block: a warp
constexpr std::uint64_t near_sieve_cells = 10240;                  // that a warp can count near
constexpr std::uint64_t most_sieve_cells = std::uint64_t{1} << 21; // counts of codes on a GPU

// What codes are counted by: of all of them; 0: they are too many for a GPU.
std::uint64_t sieve_cells(const SieveProgram &program);

// Words of a warp's blocks, from this step on.
std::size_t sieve_room_words(const SieveProgram &program, std::size_t first_step);

KernelRecipe sieve_kernel(const SieveProgram &program, std::size_t first_step);

// What follows stands in device/sieve_walk.cuh as well.
struct SieveLaunch {
    std::uint64_t prefixes, next, room, counts, met; // addresses
    std::uint32_t count, share, stride;
};

} // namespace libperm
