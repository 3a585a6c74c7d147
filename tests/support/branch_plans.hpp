// Saved plans whose blocks are computed along random trees: what the search would not find.
#pragma once

#include "lib/frontier/cost.hpp"
#include "lib/frontier/plan.hpp"
#include "preprocess/branch_program.hpp"
#include "tests/support/branch_cases.hpp"
#include "tests/support/plan_in_memory.hpp"
#include "tests/support/saved_plan.hpp"

#include <map>
#include <memory>
#include <string>

namespace branch_cases {

struct BranchedPlan {
    std::string bytes;
    int blocks = 0, joins = 0;
    std::map<BranchLeaf::Kind, int> leaves;
};

// The plan of these options, its blocks computed along random trees.
inline BranchedPlan along_random_trees(const perm_csr &a, const perm_opts &opts, Leaves leaves,
                                       perm::families::Random &random) {
    libperm::Plan plan = plan_in_memory(a, opts);
    BranchedPlan made;
    for (std::size_t number = 0; number < plan.block_plans.size(); ++number) {
        const Pattern &pattern = plan.block_plans[number].lines.pattern;
        libperm::BlockPlan &block = plan.block_plans.content(number);
        BranchDecomposition tree = random_tree(pattern, leaves, random);
        libperm::BranchProgram program = libperm::build_branch_program(pattern, tree);
        libperm::Candidate c;
        c.engine = libperm::Engine::frontier;
        c.form = libperm::number_of(libperm::FrontierForm::branches);
        c.cost = libperm::branches_cost(program.program, block.nonnegative);
        ++made.blocks;
        made.joins += libperm::shape_of(program.program, tree).joins;
        for (const BranchLeaf &leaf : tree.leaves) ++made.leaves[leaf.kind];
        c.plan = std::make_shared<const libperm::FrontierPlan>(std::move(program.program));
        block.candidates = {c};
        block.chosen = 0;
    }
    made.bytes = save_plan(plan);
    return made;
}

} // namespace branch_cases
