// The frontier of one pattern, written out: every state and every way to reach it, to be run again and again
// with other values. No key is compared any more, and nothing is allocated: a list of states is a list of
// multiply-adds.
#pragma once

#include <cstdint>
#include <vector>

namespace libperm {

struct TapeMove {
    std::uint32_t source; // a state of the list before
    std::uint32_t
        entry; // of the pattern; `nnz`: none, which counts as 1; of a join a state of the other list
};

// Where the moves to a list's states come from. Without any it holds one state, the number 1.
struct TapeList {
    std::int32_t before = -1, other = -1; // lists below it, each of which one list comes from

    bool begins() const { return before < 0; }
    bool is_join() const { return other >= 0; }
};

// States stand in lists, one after each step along the frontier: of a path one before the first row and one
// after each, on a tree (docs/frontier.md) also one at the beginning of each branch, and one after each join.
// Each state is the sum over its moves of a state times an entry, or of a state times a state, and the last
// is the permanent.
struct Tape {
    std::int32_t n = 0;
    std::int64_t nnz = 0;
    std::vector<TapeList> lists;
    std::vector<std::uint32_t> first_state; // of each list, and their number
    std::vector<std::uint32_t> first_move;  // of each state, and their number
    std::vector<TapeMove> moves;            // states counted from the first of their list
    std::vector<std::uint32_t> row;         // of each entry
    bool is_path = true;                    // of rows: each list is that after the one before it
    bool transposed = false;                // of a path: it goes along the columns
    std::uint32_t most_states = 1;          // of a list
    double roundings = 0;                   // on the way of a term, when moves are fused multiply-adds

    std::uint32_t states() const { return first_state.back(); }
    std::uint32_t states_of(std::int32_t list) const {
        const auto l = static_cast<std::size_t>(list);
        return first_state[l + 1] - first_state[l];
    }
};

// A tape as the kernel takes it (jit/device/tape.cuh).

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
