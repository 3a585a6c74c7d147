// The kernel that runs tapes on a GPU, whichever they are (jit/device/tape.cuh).
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/program/tape.hpp"

namespace libperm {

// Threads of a block at most: their numbers stand in registers.
constexpr int tape_most_threads(Arithmetic arithmetic) { return parts_of(arithmetic) > 2 ? 512 : 1024; }

struct TapeForm {
    Arithmetic arithmetic;
    bool magnitudes; // without them numbers are their own; dd ones never are
    bool in_memory;  // the states: too many for a block's shared memory
};

const char *tape_entry(TapeForm form);
KernelRecipe tape_kernel(TapeForm form, int threads);

// What follows stands in device/tape.cuh as well.
struct TapeLaunch {
    std::uint64_t moves, slice, row, line, values, answers;
    std::uint64_t room, room_bytes; // for states in memory: of all blocks, and of each
    std::uint64_t matrices;
    std::uint32_t n, nnz, states;
};

// An answer: the permanent's parts and magnitude, doubles, and then TapeScaling, as large as one.
struct TapeScaling {
    static constexpr int not_for_tape = -2; // as bits: not finite, or a row of subnormal numbers
    int exp2 = 0, bits = not_for_tape;      // as in TapePlan::Loaded
};
constexpr std::size_t tape_answer_doubles(Arithmetic arithmetic) {
    return static_cast<std::size_t>(parts_of(arithmetic)) + 2;
}

// Of a block of threads, for one matrix: its shared memory, and the memory of states that stand outside of
// it.
std::size_t tape_shared_bytes(const Tape &tape, TapeForm form);
std::size_t tape_room_bytes(const Tape &tape, TapeForm form);

} // namespace libperm
