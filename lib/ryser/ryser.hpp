// Engine `ryser`: the Nijenhuis-Wilf form of Ryser's formula over a sparse matrix, in Gray-code order, with
// columns sorted by degree and zero row sums tracked (CPU-SparsePerman: Elbek and Kaya, Algorithm 1 and
// §VI-B). Where lines repeat it can sum over counts of equal columns instead (lib/ryser/counted.hpp).
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/plan.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// `block` is A or A^T as the plan has it; its magnitudes have a perfect matching, and lines that the plan
// takes for equal have equal values. Progress is counted in terms.
Outcome run_ryser(const RyserPlan &plan, const Block &block, RunControl &control);

// In complex, dd or complex_dd; of a dd block all entries are real.
Outcome run_ryser(const RyserPlan &plan, const ExactBlock &block, Arithmetic arithmetic, RunControl &control);

// In MPFR numbers of so many bits, real ones if all entries are: `wide` is the value with all of them.
Outcome run_ryser_mpfr(const RyserPlan &plan, const ExactBlock &block, int bits, RunControl &control);

// Modulo each prime, odd ones below 2^62: 0 .. prime - 1. Terms of all matrices count as progress.
std::vector<std::uint64_t> run_ryser(const RyserPlan &plan, const Residues &residues, RunControl &control);

} // namespace libperm
