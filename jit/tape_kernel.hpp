// The kernel that runs tapes on a GPU, whichever they are; and a tape as it takes it (jit/device/tape.cuh).
#pragma once

#include "jit/arithmetic.hpp"
#include "jit/kernel_store.hpp"
#include "jit/tape.hpp"

#include <vector>

namespace libperm {

constexpr const char *tape_entry = "perm_tape";

// Of real or complex numbers. Without magnitudes numbers are their own.
KernelRecipe tape_kernel(Arithmetic arithmetic, bool magnitudes, int threads);

// What follows stands in device/tape.cuh as well.
struct TapeLaunch {
    std::uint64_t moves, slice, row, entries, last;
    std::uint64_t matrices;
    std::uint32_t n, nnz, states;
};

struct SlicedTape {
    std::vector<std::uint32_t> moves, slice, row;
    std::uint32_t states = 0;
};

// False if its states or entries are too many for that.
bool can_be_sliced(const Tape &tape);
SlicedTape sliced(const Tape &tape);

// Of a block of threads, for one matrix.
std::size_t tape_shared_bytes(const Tape &tape, Arithmetic arithmetic, bool magnitudes);

} // namespace libperm
