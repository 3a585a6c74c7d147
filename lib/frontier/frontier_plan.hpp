// What a plan of the frontier holds: the program that is run, and for branches the tree that it was made
// from.
#pragma once

#include "lib/run/candidate.hpp"
#include "preprocess/branch_program.hpp"
#include "preprocess/frontier_program.hpp"

#include <utility>

namespace libperm {

class FrontierPlan final : public EnginePlan {
  public:
    explicit FrontierPlan(FrontierProgram of_rows) : program(std::move(of_rows)) {}
    FrontierPlan(FrontierProgram of_branches, BranchDecomposition of_lines)
        : program(std::move(of_branches)), tree(std::move(of_lines)) {}
    std::int64_t bytes() const override { return bytes_of(program) + bytes_of(tree); }

    FrontierProgram program;  // of A, or of A^T
    BranchDecomposition tree; // of a program with branches: what it was made from
};

} // namespace libperm
