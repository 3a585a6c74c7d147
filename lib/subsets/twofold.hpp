// The tree engine where a double cannot hold the entries: what the grid of its row sums cuts off signed ones
// may change more of the permanent than the tolerance allows.
#pragma once

#include "lib/run/candidate.hpp"
#include "preprocess/block.hpp"

#include <optional>

namespace libperm {

// The candidate in numbers of two doubles, if its bound in doubles is sure to miss the plan's tolerance and
// the block, A or A^T as the plan has it, is known without error.
std::optional<Wider> tree_in_twofold(const Candidate &c, const Block &block);

} // namespace libperm
