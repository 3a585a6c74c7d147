// A tape as the kernel takes it (jit/device/tape.cuh).
#pragma once

#include "jit/program/tape.hpp"

#include <vector>

namespace libperm {

struct SlicedTape {
    std::vector<std::uint32_t> moves, slice, row;
    std::uint32_t states = 0;
};

// False if its states or entries are too many for that.
bool can_be_sliced(const Tape &tape);
SlicedTape sliced(const Tape &tape);

// Of two rows, one after the other, with what fills their last slices: the most that have to be kept.
std::uint32_t states_kept(const Tape &tape);

} // namespace libperm
