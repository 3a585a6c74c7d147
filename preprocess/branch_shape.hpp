// A branch decomposition and the program made from it, in a few numbers.
#pragma once

#include "preprocess/branch_decomposition.hpp"

namespace libperm {

struct FrontierProgram;

struct BranchShape {
    std::int32_t width = 0;                          // lines of the largest middle set that a list waits with
    std::int32_t rows = 0, columns = 0, entries = 0; // leaves
    std::int32_t joins = 0; // of two lists; a leaf's is a step of the list that it is added to
    double products = 0;    // of all joins, at most

    friend bool operator==(const BranchShape &, const BranchShape &) = default;
};

BranchShape shape_of(const FrontierProgram &program, const BranchDecomposition &tree);

} // namespace libperm
