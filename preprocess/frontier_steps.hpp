// The program of a frontier order: its steps, the slots of its states, and how it is made.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/frontier_order.hpp"
#include "preprocess/frontier_states.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

struct FrontierTerm {
    std::int64_t entry;        // of A's value array, also when the steps run over A^T; -1: none is used
    std::int32_t slot;         // the lowest bit of the counter that says how many of the columns are used
    std::int32_t width;        // of the counter, in bits; it lies inside one 64-bit word
    std::int32_t multiplicity; // equal columns
    std::int32_t least;        // of them to be used after the row: those to come have no room for the rest
    bool opens, closes;        // first, last row with this column
    // Of a step that takes a single entry, whose row waits as its column does: the row's, of one bit.
    std::int32_t other_slot = -1;
    bool other_closes = false;
};

// A row takes one of its columns. In a program with branches also a column takes one of its rows, and an
// entry is used or not: in the place of columns stand the lines, rows and columns, that wait.
struct FrontierStep {
    std::vector<FrontierTerm> terms; // by slot, ascending
    std::int32_t used_before = 0;    // open columns used in every state, before and after the row
    std::int32_t used_after = 0;
    std::int32_t width_before = 0; // open columns, all of a kind, before and after
    std::int32_t width_after = 0;
    double states_bound = 1;     // after the row, at most
    double expansions_bound = 1; // pairs (state, entry) of the row, at most
    double reachable = 1;        // estimated share of the bounds that is really met
    std::int32_t row = 0;        // of A, or of A^T
    std::int32_t node = -1;      // of a tree: whose list it gives
};

// Bits of a state that move together.
struct BitRun {
    std::int32_t from, to, width;
};

// What the states of two branches become: pairs of them that share no line, and of the lines with no entry
// elsewhere (which are *closing*) each in one of both. States are put into an order first in which lines that
// both have stand above those that one side has alone, the closing ones highest.
struct FrontierJoin {
    std::array<std::vector<BitRun>, 2> runs;       // of each branch, to that order
    std::array<std::vector<std::int32_t>, 2> rows; // places in that order of the lines that are rows
    std::array<std::int32_t, 2> alone{};           // lines that one side has, below
    std::int32_t closing = 0, staying = 0;         // lines that both have
    double products_bound = 1, states_bound = 1;   // pairs, what they come to; at most
    std::int32_t used = 0;                         // lines used in every state, as of a step
    double patterns_bound = 1;                     // pairs of patterns of the shared lines, at most
    std::int32_t slots() const {
        return alone[0] + alone[1] + staying;
    } // of the result: staying, then 0, then 1
};

// States that grow by steps, from the empty one or from a join of two branches.
struct FrontierBranch {
    std::int32_t first = 0, last = 0;           // steps, [first, last)
    std::array<std::int32_t, 2> joined{-1, -1}; // branches before this one, the last that are not joined yet
    FrontierJoin join;
    std::int32_t node = -1; // of the tree: the join
};

constexpr std::int32_t most_dense_slots = 64; // bits of a set: more are not for the dense form

struct FrontierProgram {
    bool transposed = false;
    bool counts = false;    // some counter is wider than a bit: not for the dense form
    std::int32_t slots = 0; // bits of the widest state, the row in process included
    std::vector<FrontierStep> steps;
    std::vector<FrontierBranch> branches; // in the order of the walk, the result last; none: a single one
    std::shared_ptr<const BranchSource> source; // of branches
};

// The dense form takes so many slots apart: its blocks hold subsets of them, and stay in the first-level
// cache (C(12, 6) = 924 numbers at most). Between blocks states line up, inside one an entry in a low slot
// leads to another place.
constexpr int low_slots = 12;

// Names a program's slots so that the low ones are those which entries lie in least, where there are many
// states. For programs without counters.
void name_slots(FrontierProgram &program);

// Makes a program of a frontier order.

std::int64_t bytes_of(const FrontierProgram &program);

// The widths and states that follow from the steps' terms; of a slice the bounds of the whole hold too, so
// each bound that is there stays where it is less. `rows`: of `side`, one for each step.
void count_states(FrontierProgram &program, const FrontierSide &side, const std::vector<std::int32_t> &rows);

// `side` is the one of the order, or the same without merging any columns.
FrontierProgram build_frontier_program(const FrontierSide &side, const FrontierOrder &order);

// Fills FrontierStep::reachable: random subsets of the open columns are tested for whether the processed rows
// can be matched to them and the closed columns, `samples` times at each step that matters.
void estimate_reachable(FrontierProgram &program, const FrontierSide &side, const FrontierOrder &order,
                        int samples);

} // namespace libperm
