// Orders of rows and trees of branches that were searched for, kept for the next plan of the same block.
#pragma once

#include "lib/run/proposals.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/frontier_order.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace libperm {

// As find_frontier_order and find_branches.
FrontierOrder kept_frontier_order(const Proposals &task, const std::array<FrontierSide, 2> &sides,
                                  const FrontierOrderOptions &search);
std::optional<FoundBranches> kept_branches(const Proposals &task, const BranchSearchOptions &search);

// A tree as bytes, and back, checked: throws DamagedField, or cereal's exceptions, for what is none of the
// pattern.
std::string written_tree(const BranchDecomposition &tree);
BranchDecomposition tree_from(std::string_view bytes, const Pattern &a);

} // namespace libperm
