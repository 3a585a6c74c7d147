// What sums over subsets by a kernel propose for a block, and their plans as bytes, and back.
#pragma once

#include "jit/kernel/subsets.hpp"
#include "lib/run/candidates.hpp"

namespace libperm {

class Proposals;
struct Outlook;

// Engines whose kernels run on a GPU alone.
void propose_kernel(Proposals &task, Engine self, SubsetEngine kernel);

void propose_tree(Proposals &task, Engine self);
// What the tree is expected to take on one thread, or on the GPU, after the least search for an order;
// infinite where that is not worth while.
Outlook tree_outlook(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_subsets(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_kernel(std::string_view bytes, SubsetEngine kernel,
                                                  const PlanSource &of);
std::shared_ptr<const EnginePlan> restored_tree(std::string_view bytes, const PlanSource &of);
void check_subsets(const Candidate &c);

KernelSource subsets_source(const Candidate &c, const Numbers &numbers, bool nonnegative);

} // namespace libperm
