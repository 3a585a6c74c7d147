// Matrices of residues as the kernels take them, and their permanents from the sums over all subsets.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/subsets/plan.hpp"

namespace libperm {

// Of matrix `which`; the pattern is that of A or A^T as the plan has it. jit/kernel/subsets.hpp has the
// layout.
std::vector<double> residue_values(const SubsetPlan &plan, const Residues &residues, std::size_t which);

// 0 .. prime - 1.
std::uint64_t residue_permanent(const SubsetPlan &plan, double sum, std::uint64_t prime);

} // namespace libperm
