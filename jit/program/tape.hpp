// The frontier of one pattern, written out: every state and every way to reach it, to be run again and again
// with other values. No key is compared any more, and nothing is allocated: a row is a list of multiply-adds.
#pragma once

#include <cstdint>
#include <vector>

namespace libperm {

struct TapeMove {
    std::uint32_t source; // a state of the row before
    std::uint32_t entry;  // of the pattern
};

// States are numbered row by row; state 0, before the first row, is the number 1, and the last is the
// permanent. Each is the sum over its moves of an entry times a state.
struct Tape {
    std::int32_t n = 0;
    std::int64_t nnz = 0;
    std::vector<std::uint32_t> first_state; // of each row: n + 2, from {0, 1} to the number of states
    std::vector<std::uint32_t> first_move;  // of each state, and their number; state 0 has none
    std::vector<TapeMove> moves;            // the source counted from the first state of the row before
    std::vector<std::uint32_t> row;         // of each entry
    bool transposed = false;                // the walk goes along the columns
    std::uint32_t most_states = 1;          // of a row
    double roundings = 0;                   // on the way of a term, when moves are fused multiply-adds

    std::uint32_t states() const { return first_state.back(); }
};

} // namespace libperm
