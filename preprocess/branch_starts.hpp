// First trees, which rotations are to better.
#pragma once

#include "preprocess/branch_tree.hpp"
#include "preprocess/search.hpp"

namespace libperm {

// Leaves alone: every entry.
BranchTree branch_leaves(const BranchLines &lines, const BranchPricing &pricing);

// A start is left, and false returned, once it has a node of 2^100 states or took too long to find.
struct BranchLimit {
    static constexpr double states = 0x1p100;
    double search_seconds = 1e300; // of all work so far
    bool holds(const BranchNode &node, const SearchWork &work) const {
        return node.states.count < states && work.seconds() < search_seconds;
    }
};

// What is eliminated next: the line whose elimination leaves the smallest middle set, or adds the fewest
// states.
enum class EliminationKey { width, states };
enum class LinesFirst { none, rows, columns };

struct EliminationRule {
    EliminationKey key = EliminationKey::width;
    LinesFirst first = LinesFirst::none; // these before all others
    double noise = 0;                    // up to so much more is as good
};

// Joins the roots of `tree` around one line after the other.
bool join_by_elimination(BranchTree &tree, const EliminationRule &rule, const BranchLimit &limit,
                         SearchRandom &random, SearchWork &work);

// One root takes in leaf after leaf, those of a line together: a path of rows and columns, where the next
// line is the one that opens the fewest others and closes most.
bool join_along_path(BranchTree &tree, const BranchLimit &limit, SearchRandom &random, SearchWork &work);

} // namespace libperm
