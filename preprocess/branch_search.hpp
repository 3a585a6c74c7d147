// Search for a branch decomposition in which a permanent takes the fewest operations.
#pragma once

#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_price.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/search.hpp"

#include <optional>

namespace libperm {

struct BranchSearchOptions {
    std::uint64_t seed = 0;
    BranchPrice price;
    double most_states = 1e300;   // alive at once; a decomposition with more is dear
    double other_seconds = 1e300; // what the best other way takes: what is far from it is given up
    SearchBudget budget;
    MemoryAccount *account = nullptr;
};

// Deterministic: the same pattern and options give the same tree. None: nothing below 2^100 states was found.
std::optional<FoundBranches> find_branches(const Pattern &a, const BranchSearchOptions &options);

} // namespace libperm
