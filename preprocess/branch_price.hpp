// What a node of a branch decomposition takes: its states, and the pairs of states of its children that go
// together.
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

// The lines of two nodes that are joined.
struct JoinShape {
    std::int32_t only_first = 0, only_second = 0;   // in the middle set of one alone: they stay
    std::int32_t stay_rows = 0, stay_columns = 0;   // in both, and with entries elsewhere
    std::int32_t leave_rows = 0, leave_columns = 0; // in both, and nowhere else
    std::int32_t width() const { return only_first + only_second + stay_rows + stay_columns; }
};

// The states of a node.
struct BranchStates {
    std::int32_t width = 0, used = 0;
    double count = 1;
    double used_share = 0;    // of the lines, but never quite none or all
    bool leaf = false;        // a row, a column or an entry: taken by a step, with no table of its own
    std::int32_t choices = 0; // of a leaf: its entries
};

class BranchPricing {
  public:
    // Prices sets of at most so many lines.
    BranchPricing(const BranchPrice &price, double most_states, std::int32_t lines,
                  BranchSides sides = BranchSides::two)
        : price_(price), most_states_(most_states), log2_states_(lines, sides) {}

    // At least one: what has none is a permanent of 0, which others find.
    BranchStates states(std::int32_t width, std::int32_t used) const;

    double pairs(const JoinShape &join, const BranchStates &first, const BranchStates &second) const;

    // Seconds of a join. What is too large for the memory takes that much longer.
    double seconds(const JoinShape &join, const BranchStates &first, const BranchStates &second,
                   const BranchStates &result) const;

    // Seconds of the dearest node of any decomposition, at least, if each line has so many entries.
    //
    // Below a node let r and c be the rows and columns with entries, r' and c' those with none elsewhere: it
    // has C(u + v, u) states, u = r - c', v = c - r'. Let d be the degree, m = d/4, and P a lowest node with
    // r, c >= m. Each of its children has r < m, which leaves it no c', or c < m and no r'. If both have
    // r < m, then P has r < 2m, so c' = 0 and u >= m; and r' = 0 and v >= m, or c >= d and v >= d - r >= m.
    // Both c < m: likewise. Else only rows of the one can be in r', and only columns of the other in c', each
    // less than m, and u, v >= m as before.
    double least_seconds(std::int32_t degree) const;

  private:
    double step_pairs(const JoinShape &join, const BranchStates &table, const BranchStates &leaf) const;

    BranchPrice price_;
    double most_states_;
    Log2BranchStates log2_states_;
};

// log2 of states beyond which numbers are not told apart: their products are to be finite.
constexpr double most_log2_branch_states = 400;

} // namespace libperm
