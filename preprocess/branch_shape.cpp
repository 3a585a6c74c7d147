#include "preprocess/branch_shape.hpp"

#include "preprocess/frontier_program.hpp"

#include <algorithm>

namespace libperm {

BranchShape shape_of(const FrontierProgram &program, const BranchDecomposition &tree) {
    BranchShape shape;
    for (const BranchLeaf &leaf : tree.leaves)
        ++(leaf.kind == BranchLeaf::Kind::row      ? shape.rows
           : leaf.kind == BranchLeaf::Kind::column ? shape.columns
                                                   : shape.entries);
    for (const FrontierStep &step : program.steps) shape.width = std::max(shape.width, step.width_after);
    for (const FrontierBranch &branch : program.branches) {
        if (branch.joined[0] < 0) continue;
        ++shape.joins;
        shape.width = std::max(shape.width, branch.join.slots());
        shape.products += branch.join.products_bound;
    }
    return shape;
}

} // namespace libperm
