// Engine `tree` on a CPU.
#pragma once

#include "lib/gray_plan.hpp"
#include "lib/outcome.hpp"
#include "lib/residues.hpp"
#include "lib/run_control.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// `block` is A or A^T as the plan has it. Progress is counted in subsets. The same bits as on a GPU, on any
// number of threads.
Outcome run_tree(const GrayPlan &plan, const Block &block, RunControl &control);

// In the plan's arithmetic: complex, dd or complex_dd.
Outcome run_tree(const GrayPlan &plan, const ExactBlock &block, RunControl &control);

// Of a plan for residues: the permanent modulo each prime.
std::vector<std::uint64_t> run_tree(const GrayPlan &plan, const Residues &residues, RunControl &control);

} // namespace libperm
