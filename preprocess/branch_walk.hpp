// The order in which the joins of a tree are run: the one that holds the fewest states at once.
#pragma once

#include "preprocess/branch_tree.hpp"

namespace libperm {

// The tree as it is run, its joins in this order; subtrees that are all of a line are leaves.
FoundBranches walked_branches(const BranchTree &tree);

} // namespace libperm
