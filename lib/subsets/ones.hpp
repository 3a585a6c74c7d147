// Columns of ones for a tree that takes two subsets at once (jit/program/tree.hpp): each row is divided by
// its entry in the column that the tree differentiates along.
#pragma once

#include "lib/subsets/plan.hpp"
#include "preprocess/block.hpp"

#include <optional>

namespace libperm {

struct DividedBlock {
    SubsetPlan plan; // columns of the same rows may have changed places
    Block block;
    Tracked factor; // the permanent is this times the block's
    bool is_exact;  // no quotient is rounded
};

// `block` as the plan has it. Empty where an entry is 0, where rows are too far apart for a common scale, and
// where quotients are rounded and terms cancel: signs differ, and perm(|A|) may be any multiple of |perm(A)|.
std::optional<DividedBlock> divided_by_ones(const SubsetPlan &plan, const Block &block);

// The plan that takes two subsets at once, if that is quicker.
SubsetPlan with_derivative(SubsetPlan plan);

} // namespace libperm
