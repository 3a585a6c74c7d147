// The states of a branch decomposition's nodes, and what they are going to take.
//
// Call a column of the middle set *used* by a state that matches it, and a row by one that does not: with u
// used lines each, there are C(k, u) states. Lines are taken to be used independently of each other.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/frontier_states.hpp"

namespace libperm {

// log2 of the states of so many middle lines, of which `used` are used.
class Log2BranchStates {
  public:
    Log2BranchStates(std::int32_t lines, BranchSides sides)
        : log2_binomial_(sides == BranchSides::two ? lines : 0), sides_(sides) {}
    double operator()(std::int32_t lines, std::int32_t used) const {
        if (sides_ == BranchSides::two) return log2_binomial_(lines, used);
        return sides_ == BranchSides::one && lines > 0 ? lines - 1 : lines;
    }
    BranchSides sides() const { return sides_; }

  private:
    Log2Binomial log2_binomial_;
    BranchSides sides_;
};

// What joins and lists of states are going to take.
struct BranchPrice {
    double product = 2e-9; // seconds: a pair of states that is multiplied
    double state = 2e-8;   // a state of a join, which is sorted and written
    double step = 5e-9;    // a pair (state, entry) of a leaf that is added to a list
    double node = 1e-6;    // whatever its states
};

} // namespace libperm
