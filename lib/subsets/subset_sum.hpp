// Engines `tree`, `shared`, `dense`, `purereg`, `hybrid`: Nijenhuis and Wilf's sum by a kernel.
#pragma once

#include "jit/compile/cache_settings.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/block.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace libperm {

class Gpu;

// What shares the work: the result has the same bits whichever they are, but for plans with equal chunks.
struct GrayDevices {
    std::function<std::vector<std::shared_ptr<const Gpu>>()> gpus; // called where there is work left to do
    bool cpu = false;                                              // of engine tree alone
    CacheSettings cache;
    double seconds = 0; // that all of it is predicted to take
};

// `block` is A or A^T as the plan has it. Progress is counted in subsets. Throws Error, JitError.
Outcome run_gray(const GrayPlan &plan, const Block &block, const GrayDevices &devices, RunControl &control);

// In the plan's arithmetic: complex, dd or complex_dd.
Outcome run_gray(const GrayPlan &plan, const ExactBlock &block, const GrayDevices &devices,
                 RunControl &control);

// Of a plan for residues: the permanent modulo each prime. Of `outcome`, what it took is filled in.
std::vector<std::uint64_t> run_gray(const GrayPlan &plan, const Residues &residues,
                                    const GrayDevices &devices, RunControl &control, Outcome &outcome);

} // namespace libperm
