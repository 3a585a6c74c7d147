// What is shown of a frontier's plan: the kernel that its GPU runs, and the tree that its branches follow.
#pragma once

#include "lib/base/json.hpp"
#include "lib/run/candidate.hpp"

#include <string>

namespace libperm {

// The kernel of the row with most states, of all rows (sparse), of joins (branches).
KernelSource frontier_source(const Candidate &c, const Numbers &numbers, bool nonnegative);

// The tree as a line, and for other programs; empty where there is none, or it has been dropped.
std::string tree_text(const Candidate &c);
void put_tree(Json &json, const Candidate &c);

} // namespace libperm
