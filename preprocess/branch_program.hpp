// A branch decomposition turned into steps and joins that an engine can run.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/frontier_steps.hpp"

namespace libperm {

// Lines that both sides of a join may have: a pattern of them is a word.
constexpr std::int32_t widest_shared = 64;
// The most lines that a list may wait with: a state of them is a key.
constexpr std::int32_t widest_list = 128;

// The subtree that leaves the fewest states at once is walked first. Its slots are those of the widest state;
// it has none where a join shares more lines than `widest_shared`, or a list has more than `widest_list`
// (feasible = false). Throws nothing else than polling and the lack of memory.
struct BranchProgram {
    bool feasible = true;
    FrontierProgram program;
};
BranchProgram build_branch_program(const Pattern &a, BranchDecomposition tree);
BranchProgram build_branch_program(std::shared_ptr<const BranchSource> source);

// A tree and the program made from it, in a few numbers.
struct BranchShape {
    std::int32_t width = 0;                          // lines of the largest middle set that a list waits with
    std::int32_t rows = 0, columns = 0, entries = 0; // leaves
    std::int32_t joins = 0; // of two lists; a leaf's is a step of the list that it is added to
    double products = 0;    // of all joins, at most

    friend bool operator==(const BranchShape &, const BranchShape &) = default;
};

BranchShape shape_of(const FrontierProgram &program, const BranchDecomposition &tree);

} // namespace libperm
