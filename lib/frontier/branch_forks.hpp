// Subtrees of a program with branches that are walked side by side.
#pragma once

#include "preprocess/frontier_program.hpp"

#include <vector>

namespace libperm {

// What a branch takes by itself: bytes beside the lists that wait and are not joined here.
struct BranchNeeds {
    double seconds = 0, bytes = 0;
    double list = 0; // of the bytes, that are left when it waits
};
// Of all branches; of states of so many bytes, so many of them in the key.
std::vector<BranchNeeds> needs_of_branches(const FrontierProgram &program, double state_bytes);

// Branches [first, middle) and [middle, join) make the two lists that `join` joins.
struct BranchFork {
    std::int32_t first, middle, join;
};

// Forks that are worth two threads on both sides, and whose sides fit the memory together, with all forks in
// them.
class BranchForks {
  public:
    // None for a single thread.
    BranchForks(const FrontierProgram &program, double state_bytes, double memory, int threads);

    // The outermost one from `first` on that is joined up to `last`, but not there if it has begun.
    const BranchFork *find(std::int32_t first, std::int32_t last) const;

  private:
    std::vector<std::vector<BranchFork>> from_; // by their first branch, ascending
};

} // namespace libperm
