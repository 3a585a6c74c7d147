// Where a program with branches is run: which joins and steps on a device, which subtrees side by side.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/run/candidates.hpp"
#include "preprocess/frontier_steps.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

struct BranchPlace {
    bool join_on_device = false;
    std::int32_t first_on_device = 0; // of its steps, those from here on
};

struct BranchPlaces {
    std::vector<BranchPlace> of_branch;
    double on_cpu = 0,
           on_device = 0;     // seconds: of one thread; of an H100, with what is copied to it and back
    double device_states = 0; // there at once, at most
    bool uses_device() const { return on_device > 0; }
};

// `key_words`: of a state.
BranchPlaces place_branches(const FrontierProgram &program, int key_words, const StateNumbers &numbers);

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
