// Engines `tree`, `shared`, `dense`, `purereg`, `hybrid`: Nijenhuis and Wilf's sum by a kernel; two subsets
// at once along columns of ones, and in wider numbers where a grid of doubles does not hold the row sums.
#pragma once

#include "jit/queue/device_queue.hpp"
#include "lib/run/call.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/run/results.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/block.hpp"

#include <optional>
#include <vector>

namespace libperm {

// What shares the work: the result has the same bits whichever they are, but for plans with equal chunks.
struct SubsetDevices {
    std::optional<DeviceQueues> gpus;
    bool cpu = false;   // of engine tree alone
    double seconds = 0; // that all of it is predicted to take
};

// In the plan's arithmetic. Progress is counted in subsets. Throws Error, JitError.
EngineResult run_subset_sum(const SubsetPlan &plan, const EngineInput &input, const SubsetDevices &devices);

// The chosen candidate.
EngineResult run_subsets(const EngineRun &run, const EngineInput &input);

// Columns of ones for a tree that takes two subsets at once (jit/program/tree.hpp): each row is divided by
// its entry in the column that the tree differentiates along.

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

// The tree engine where a grid of doubles does not hold the row sums: what it cuts off of signed and complex
// entries of full mantissas may change more of the permanent than the tolerance allows.

// What to compute the lines in instead of the plan's doubles, the cheapest first; none where doubles may meet
// the plan's tolerance themselves. The lines, A or A^T as the plan has it, are known without
// error, or there are none either.
std::vector<Wider> tree_in_wider(const Candidate &c, const EngineInput &lines);

} // namespace libperm
