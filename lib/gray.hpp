// Engines `shared`, `dense`, `purereg`, `hybrid`: Nijenhuis and Wilf's sum on a GPU.
#pragma once

#include "jit/kernel_store.hpp"
#include "lib/gray_plan.hpp"
#include "lib/outcome.hpp"
#include "lib/residues.hpp"
#include "lib/run_control.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// `block` is A or A^T as the plan has it; `seconds`: what it is predicted to take. Progress is counted in
// subsets. The result has the same bits on every GPU, but for plans with equal chunks. Throws Error.
Outcome run_gray(const GrayPlan &plan, const Block &block, const std::shared_ptr<const Gpu> &gpu,
                 const CacheSettings &cache, double seconds, RunControl &control);

// In the plan's arithmetic: complex, dd or complex_dd.
Outcome run_gray(const GrayPlan &plan, const ExactBlock &block, const std::shared_ptr<const Gpu> &gpu,
                 const CacheSettings &cache, double seconds, RunControl &control);

// Of a plan for residues: the permanent modulo each prime. The kernel is loaded once; `seconds`: of all
// matrices. Of `outcome`, what it took is filled in.
std::vector<std::uint64_t> run_gray(const GrayPlan &plan, const Residues &residues,
                                    const std::shared_ptr<const Gpu> &gpu, const CacheSettings &cache,
                                    double seconds, RunControl &control, Outcome &outcome);

} // namespace libperm
